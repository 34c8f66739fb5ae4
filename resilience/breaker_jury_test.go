package resilience

import "testing"

// hearing feeds g (good), F (failed), s (slow) to a jury, until it decides, and
// gives the number of the result that did and the decision; 0 for none.
func hearing(j jury, results string) (int, decision) {
	for i, r := range results {
		if d := j.hear(0, result{failed: r == 'F', slow: r == 's'}); d != undecided {
			return i + 1, d
		}
	}
	return 0, undecided
}

func TestJuries(t *testing.T) {
	half := &tripRule{ratio: 0.5, min: 100}
	slow := &tripRule{slow: 0.5, min: 100}
	tests := []struct {
		name    string
		jury    jury
		results string
		at      int
		want    decision
	}{
		{"unanimous closes at its number", &unanimous{rule: half, need: 3}, "gggg", 3, closes},
		{"unanimous opens at the first failure", &unanimous{rule: half, need: 3}, "ggF", 3, opens},
		{"unanimous of one", &unanimous{rule: half, need: 1}, "g", 1, closes},
		{"slow is bad where slow calls open", &unanimous{rule: slow, need: 3}, "gs", 2, opens},
		{"failures are not where only slow calls do", &unanimous{rule: slow, need: 3}, "FFF", 3, closes},
		{"slow is not where it does not", &unanimous{rule: half, need: 2}, "ss", 2, closes},

		{"a rule waits for its number", newByRule(*half, 4), "FFF", 0, undecided},
		{"a rule opens at its share", newByRule(*half, 4), "gFgF", 4, opens},
		{"a rule closes below it", newByRule(*half, 4), "gFgg", 4, closes},
		{"a rule's last result may be good and open", newByRule(*half, 4), "FFgg", 4, opens},
		{"a rule of slow calls", newByRule(*slow, 4), "ssFF", 4, opens},
		{"a rule above only", newByRule(tripRule{ratio: 0.5, above: true}, 4), "gFgF", 4, closes},

		{"clean closes without a failure", newClean(*half, 3, nil), "ggg", 3, closes},
		{"clean waits even after one", newClean(*half, 3, nil), "F", 0, undecided},
		{"clean opens with one of them", newClean(*half, 3, nil), "Fgg", 3, opens},
		{"clean opens at a slow one where only those open", newClean(*slow, 3, nil), "gsF", 3, opens},
		{"clean takes a failure there", newClean(*slow, 3, nil), "gFF", 3, closes},

		{"majority closes as soon as it can", &majority{rule: half, need: 2, window: lastCalls{ring: make([]result, 3)}}, "gg", 2, closes},
		{"majority bears what it can", &majority{rule: half, need: 2, window: lastCalls{ring: make([]result, 3)}}, "Fgg", 3, closes},
		{"majority opens as soon as it must", &majority{rule: half, need: 2, window: lastCalls{ring: make([]result, 3)}}, "FF", 2, opens},
		{"majority of all", &majority{rule: half, need: 3, window: lastCalls{ring: make([]result, 3)}}, "gF", 2, opens},

		// 50 % of 4: it closes above 50 % of successes and opens at 50 % of
		// failures, so it always decides at the fourth.
		{"mirrored waits", &mirrored{*newByRule(*half, 4)}, "ggg", 0, undecided},
		{"mirrored closes above", &mirrored{*newByRule(*half, 4)}, "gggF", 4, closes},
		{"mirrored opens at", &mirrored{*newByRule(*half, 4)}, "ggFF", 4, opens},
		// 70 % of 3: 1 failure leaves 67 %, above 30 %.
		{"mirrored of a high share", &mirrored{*newByRule(tripRule{ratio: 0.7}, 3)}, "FFg", 3, closes},
		// 2 of 3 good are 67 %, and 1 - 33 % is a hair less in binary fractions.
		{"mirrored at the edge", &mirrored{*newByRule(tripRule{ratio: 0.33, above: true}, 3)}, "ggF", 3, closes},
		// 28.8 % of 7: with 2 failures 71 % are good, which is not above 71.2 %,
		// and 28.6 % failed; it hears on until one of the two has left.
		{"mirrored hears on", &mirrored{*newByRule(tripRule{ratio: 0.288}, 7)}, "gggggFFgggggg", 13, closes},
	}
	for _, tt := range tests {
		for range 2 { // a jury that was reset is a new one
			if at, d := hearing(tt.jury, tt.results); at != tt.at || d != tt.want {
				t.Errorf("%s: %s decides %d at %d, want %d at %d", tt.name, tt.results, d, at, tt.want, tt.at)
			}
			tt.jury.reset(0)
		}
	}
}
