package report

import (
	"strings"
	"testing"
)

func TestDisplayWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "支払い": 6, "é": 1, "e\u0301": 1, "\x1b[1mbold\x1b[0m": 4, "▁█": 2, "─└┘": 3,
		"😀": 2, "☎\ufe0f": 2, "한국": 4, "ｆｕｌｌ": 8, "–×²…": 4, "\x1b[31m支\x1b[0m": 2,
	} {
		if got := displayWidth(s); got != want {
			t.Errorf("displayWidth(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestShortenKeepsToItsWidth(t *testing.T) {
	for _, s := range []string{"payments-gateway", "支払いが遅い", "a\u0301e\u0301i\u0301o\u0301", "x"} {
		for width := range 12 {
			for _, ellipsis := range []string{"…", ".."} {
				got := shorten(s, width, ellipsis)
				if displayWidth(got) > width {
					t.Errorf("shorten(%q, %d) = %q is %d wide", s, width, got, displayWidth(got))
				}
				if displayWidth(s) <= width && got != s {
					t.Errorf("shorten(%q, %d) = %q although it fits", s, width, got)
				}
			}
		}
	}
	if got := shorten("payments-gateway", 9, "…"); got != "payments…" {
		t.Errorf("got %q", got)
	}
}

func TestWrapBreaksOnlyWhatDoesNotFit(t *testing.T) {
	got := wrap("one  two three supercalifragilistic 支払い支払い end", 10)
	want := []string{"one two", "three", "supercalif", "ragilistic", "支払い支払", "い end"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
	if wrap("  ", 10) != nil {
		t.Error("lines of nothing")
	}
}

func TestForeignTextCannotDriveTheTerminal(t *testing.T) {
	got := printable("a\x1b[2J\r\nb\u202ec\u0085d\u2028e")
	if got != "a [2J  b c d e" {
		t.Errorf("got %q", got)
	}
}

func TestASCIIHasNoOtherLetters(t *testing.T) {
	if got := toASCII("80/s × 8s – 5 µs ≥ σ² … 支é e\u0301"); got != "80/s x 8s - 5 us >= ?^2 .. ?? e" {
		t.Errorf("got %q", got)
	}
}
