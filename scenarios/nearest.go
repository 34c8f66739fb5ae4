package scenarios

import "strings"

// Nearest finds the candidate that word was most likely meant to be: by the
// optimal string alignment distance (Damerau 1964: insertions, deletions,
// substitutions, swaps of neighbours), at most a third of the longer word and
// at least one. Case and separators do not count. Of equals the first
// candidate wins. Where nothing is near, a word of three letters or more may be
// the beginning of one candidate alone.
func Nearest(word string, candidates []string) (string, bool) {
	w := []rune(fold(word))
	if len(w) == 0 {
		return "", false
	}
	best, least := "", -1
	begun, beginnings := "", 0
	for _, c := range candidates {
		f := []rune(fold(c))
		if string(f) == string(w) {
			return c, true
		}
		if len(w) >= 3 && len(f) > len(w) && string(f[:len(w)]) == string(w) {
			begun, beginnings = c, beginnings+1
		}
		most := max(1, max(len(w), len(f))/3)
		if max(len(w), len(f))-min(len(w), len(f)) > most {
			continue // the distance is at least that: no need to fill the table
		}
		if d := distance(w, f); d <= most && (least < 0 || d < least) {
			best, least = c, d
		}
	}
	if least < 0 && beginnings == 1 {
		return begun, true
	}
	return best, least >= 0
}

// fold makes spellings alike that differ in case and separators only:
// maxWaitDuration, max-wait-duration.
func fold(s string) string {
	return strings.ToLower(separators.Replace(s))
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "")

// distance is the optimal string alignment distance, in three rows.
func distance(x, y []rune) int {
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
