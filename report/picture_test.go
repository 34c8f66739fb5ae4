package report

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func sampleResult(t *testing.T) *Result {
	t.Helper()
	f, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read("sample.json", bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPicturesAgainstGolden: SVG by its bytes, PNG by its pixels with a
// tolerance for the rasteriser.
func TestPicturesAgainstGolden(t *testing.T) {
	r := sampleResult(t)
	for _, name := range PictureNames() {
		svg, err := DrawPicture(r, name, "svg")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "picture-"+name+".svg")
		if *update {
			if err := os.WriteFile(golden, svg, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(svg, want) {
			t.Errorf("%s.svg differs from its golden file (-update rewrites it; look at it before)", name)
		}
	}
	raw, err := DrawPicture(r, "littles-law", "png")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "picture-littles-law.png")
	if *update {
		if err := os.WriteFile(golden, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	a, b := decodePNG(t, raw), decodePNG(t, want)
	if a.Bounds() != b.Bounds() {
		t.Fatalf("the picture is %v, the golden one %v", a.Bounds(), b.Bounds())
	}
	off := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			const most = 24 << 8
			if apart(r1, r2) > most || apart(g1, g2) > most || apart(b1, b2) > most {
				off++
			}
		}
	}
	if share := float64(off) / float64(a.Bounds().Dx()*a.Bounds().Dy()); share > 0.001 {
		t.Errorf("%.2f%% of the pixels differ", share*100)
	}
}

func decodePNG(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func apart(a, b uint32) uint32 {
	if a > b {
		return a - b
	}
	return b - a
}
