package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTableWrapsItsLastColumn(t *testing.T) {
	long := strings.Repeat("word ", 30)
	tab := &table{columns: []string{"name", "unit", "says"}, rows: [][]string{
		{"short", "count", long},
		{"longer.name", "share", "one line"},
		{strings.Repeat("n", 60), "share", long},
	}}
	text := string(tab.text())
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > textWidth || strings.HasSuffix(strings.TrimSuffix(line, "\n"), " ") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if strings.Count(text, "word") != 60 {
		t.Errorf("words are lost: %s", text)
	}
}

func TestTableSaysASharedHeadingOnce(t *testing.T) {
	tab := &table{columns: []string{"name", "says"}, groups: []string{"a", "a", "b"}, rows: [][]string{{"a.x", "one"}, {"a.yy", "two"}, {"b.x", "three"}}}
	if got, want := string(tab.text()), "a\n  x   one\n  yy  two\nb\n  x   three\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := string(tab.matching("THREE").text()), "b\n  x  three\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTableFormats(t *testing.T) {
	tab := &table{columns: []string{"name", "says"}, rows: [][]string{{`a"b`, "x < 1 | y, z"}}}
	for format, want := range map[string]string{
		"csv":  "name,says\n\"a\"\"b\",\"x < 1 | y, z\"\n",
		"md":   "| name | says |\n| --- | --- |\n| a\"b | x < 1 \\| y, z |\n",
		"text": "a\"b  x < 1 | y, z\n",
	} {
		got, err := tab.render(format)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", format, got, err)
		}
	}
	text, err := tab.render("json")
	if err != nil || !strings.Contains(string(text), "x < 1") {
		t.Errorf("json: %s, %v", text, err)
	}
	var back []map[string]string
	if err := json.Unmarshal(text, &back); err != nil || back[0]["name"] != `a"b` {
		t.Errorf("json does not read back: %v %v", back, err)
	}
}
