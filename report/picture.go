package report

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// picture is one of the drawings of a result.
type picture struct {
	name   string
	height float64 // CSS pixels; all are pictureWidth wide
	draw   func(d *Document, c draw.Canvas) (desc string)
}

const pictureWidth = 1200

// pictures in the order in which a folder lists them.
var pictures = []picture{
	{"parked", 450, drawParked},
	{"pool", 450, drawPool},
	{"fallback", 450, drawFallback},
	{"overview", 1000, drawOverview},
	{"littles-law", 450, drawLaw},
}

// PictureNames are the drawings that every result has.
func PictureNames() (names []string) {
	for _, p := range pictures {
		names = append(names, p.name)
	}
	return names
}

// pxToPt: a CSS pixel is 0.75 pt.
const pxToPt = 0.75

// DrawPicture draws one picture as "png" (two pixels to the CSS pixel) or
// "svg". The bytes depend on the result alone.
func DrawPicture(r *Result, name, format string) ([]byte, error) {
	for _, p := range pictures {
		if p.name != name {
			continue
		}
		w, h := vg.Length(pictureWidth*pxToPt), vg.Length(p.height*pxToPt)
		d := NewDocument(r)
		var b bytes.Buffer
		switch format {
		case "png":
			c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(192), vgimg.UseBackgroundColor(color.White))}
			p.draw(d, draw.New(c))
			if _, err := c.WriteTo(&b); err != nil {
				return nil, fmt.Errorf("%s.png: %w", name, err)
			}
			return b.Bytes(), nil
		case "svg":
			c := vgsvg.New(w, h)
			canvas := draw.New(c)
			canvas.SetColor(color.White)
			canvas.Fill(canvas.Rectangle.Path())
			desc := p.draw(d, canvas)
			if _, err := c.WriteTo(&b); err != nil {
				return nil, fmt.Errorf("%s.svg: %w", name, err)
			}
			return finishSVG(b.Bytes(), name+": "+d.Name, desc), nil
		}
		return nil, fmt.Errorf("unknown picture format %q", format)
	}
	return nil, fmt.Errorf("unknown picture %q", name)
}
