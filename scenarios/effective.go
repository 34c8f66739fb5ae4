package scenarios

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Effective is the scenario with every default filled in: as YAML, where each
// default carries the comment "default", and as JSON.
func (f *File) Effective() (text string, compact json.RawMessage) {
	tree := f.tree()
	compact = toJSON(tree)
	out, err := yaml.Dump(tree, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return string(out), compact
}

// tree is the whole scenario with every default marked.
func (f *File) tree() *yaml.Node {
	e := &encoder{given: f.at}
	return e.structure("", reflect.ValueOf(&f.scenario).Elem())
}

// Digest names what is simulated: 12 hex digits over the effective scenario
// and the arms added, without what people read (title, about, expectations) and
// without the seed.
func (f *File) Digest() string {
	tree := f.tree()
	kept := mapping(false)
	for i := 0; i+1 < len(tree.Content); i += 2 {
		switch tree.Content[i].Value {
		case "title", "about", "expect", "name", "seed":
		default:
			kept.Content = append(kept.Content, tree.Content[i], tree.Content[i+1])
		}
	}
	h := sha256.New()
	h.Write(toJSON(kept))
	for _, v := range f.vs {
		fmt.Fprintf(h, "\n%s:%s=%s", v.base, v.path, v.value)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// toJSON writes a tree in its own order; values stay as a file writes them.
func toJSON(n *yaml.Node) json.RawMessage {
	var b bytes.Buffer
	writeJSON(&b, n)
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) {
	text := func(s string) {
		out, err := json.Marshal(s)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		b.Write(out)
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			text(n.Content[i].Value)
			b.WriteByte(':')
			writeJSON(b, n.Content[i+1])
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, c)
		}
		b.WriteByte(']')
	default:
		if json.Valid([]byte(n.Value)) && n.Style == 0 && !strings.HasPrefix(n.Value, `"`) {
			b.WriteString(n.Value)
			return
		}
		text(n.Value)
	}
}
