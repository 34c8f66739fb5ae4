package scenarios

import "testing"

func TestNearest(t *testing.T) {
	keys := []string{"cooldown", "probes", "lease", "ratio", "window", "min_calls", "max_wait", "permits", "poisson", "even", "at"}
	for _, c := range []struct{ word, want string }{
		{"cooldwon", "cooldown"}, // a swap is one mistake
		{"colldown", "cooldown"},
		{"poison", "poisson"},
		{"minCalls", "min_calls"}, // case and separators are none
		{"MAX-WAIT", "max_wait"},
		{"ratoi", "ratio"},
		{"premits", "permits"},
		{"perm", "permits"}, // a beginning
		{"lea", "lease"},
		{"po", ""}, // too short for a beginning
		{"ta", "at"},
		{"zzzzzzzz", ""},
		{"", ""},
		{"-", ""},
		{"windowsize", ""}, // four letters too many
		{"früh", ""},
	} {
		got, ok := Nearest(c.word, keys)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q: got %q, %v; want %q", c.word, got, ok, c.want)
		}
	}
	if got, ok := Nearest("p", []string{"processes", "process"}); ok {
		t.Errorf("p means %q", got)
	}
	if got, ok := Nearest("pro", []string{"processes", "prober"}); ok {
		t.Errorf("pro begins two words and means %q", got)
	}
	if got, _ := Nearest("cat", []string{"bat", "hat"}); got != "bat" {
		t.Errorf("of equals got %q, want the first", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1},
		{"abc", "acb", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"äöü", "äou", 2},
	} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
