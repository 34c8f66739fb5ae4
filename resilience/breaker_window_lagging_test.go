package resilience

import "testing"

// The facts of hystrix-go's rolling numbers: 10 buckets are kept when something
// is counted, 11 are read, and requests and errors are counted apart.
func TestLagging(t *testing.T) {
	lag := func() window { return (&Lagging{Span: 10 * s, N: 10}).make(false) }
	tests := []struct {
		name  string
		table []entry
	}{
		{"read: eleven seconds of the clock", []entry{
			{0, "fail", "1/1/1"}, {11*s - 1, "look", "1/1/1"}, {11 * s, "look", "0/0/0"},
		}},
		{"a result makes those of ten seconds ago leave", []entry{
			{0, "fail", "1/1/1"}, {10 * s, "fail", "1/1/1"},
		}},
		{"a success drops old requests and leaves old errors", []entry{
			{0, "fail", "1/1/1"}, {0, "fail", "2/2/2"},
			{10 * s, "succeed", "1/2/0"},
			{11 * s, "succeed", "2/0/0"},
		}},
		{"nine seconds ago all count", []entry{
			{0, "fail", "1/1/1"}, {10*s - 1, "succeed", "2/1/0"},
		}},
		{"a void result is none and drops none", []entry{
			{0, "fail", "1/1/1"}, {10 * s, "void", "1/1/1"}, {10 * s, "look", "1/1/1"},
		}},
		{"emptied", []entry{
			{0, "fail", "1/1/1"}, {0, "reset", "0/0/0"}, {0, "look", "0/0/0"}, {0, "fail", "1/1/1"},
		}},
		{"a place of the ring is used again", []entry{
			{0, "fail", "1/1/1"}, {11 * s, "fail", "1/1/1"}, {22 * s, "fail", "1/1/1"}, {33 * s, "look", "0/0/0"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { runWindow(t, lag(), tt.table) })
	}
}
