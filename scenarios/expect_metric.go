package scenarios

import "strings"

// resolve finds the metric that a name means: the full name, or an end of it
// that begins at a dot; endpoints.X and dependencies.X are accepted as well.
// Where several metrics end so they are returned, and none is chosen.
func (v *Vocabulary) resolve(name string) (full string, candidates []string) {
	first, rest, _ := strings.Cut(name, ".")
	if singular, ok := singulars[first]; ok && rest != "" {
		name = singular + "." + rest
	}
	if _, ok := v.Metrics[name]; ok {
		return name, nil
	}
	for _, k := range sortedKeys(v.Metrics) {
		if strings.HasSuffix(k, "."+name) {
			candidates = append(candidates, k)
		}
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	return "", candidates
}

var singulars = map[string]string{"endpoints": "endpoint", "dependencies": "dependency", "pools": "pool"}

// near is the metric that an unknown name was most likely meant to be. Names
// are compared word by word along the dots first, so that one wrong word of
// three does not count for little in a long name.
func (v *Vocabulary) near(name string) (string, bool) {
	known := sortedKeys(v.Metrics)
	words := strings.Split(name, ".")
	best, least := "", -1
	for _, k := range known {
		if d, ok := wordDistance(words, strings.Split(k, ".")); ok && (least < 0 || d < least) {
			best, least = k, d
		}
	}
	if least >= 0 {
		return best, true
	}
	for _, fits := range []func(known string) bool{
		// payments.opens for dependency.payments.breaker.opens: words left out.
		func(k string) bool { return leftOut(words, strings.Split(k, ".")) },
		// endpoint.search.p99 for latency_p99: the same place, part of the last word.
		func(k string) bool { return partOfLast(name, k) },
	} {
		for _, k := range known {
			if fits(k) {
				return k, true
			}
		}
	}
	// A dot in the wrong place: nearly the same letters.
	if near, ok := Nearest(name, known); ok && distance([]rune(fold(name)), []rune(fold(near))) <= max(1, len(near)/8) {
		return near, true
	}
	return "", false
}

// leftOut reports whether words are words of known, in order and with its last.
func leftOut(words, known []string) bool {
	i := 0
	for _, k := range known {
		if i < len(words) && words[i] == k {
			i++
		}
	}
	return i == len(words) && words[i-1] == known[len(known)-1]
}

// partOfLast reports whether known is name with a longer last word.
func partOfLast(name, known string) bool {
	dot := strings.LastIndexByte(name, '.') + 1
	rest, ok := strings.CutPrefix(known, name[:dot])
	return ok && len(name)-dot >= 2 && strings.Contains(rest, name[dot:])
}

// wordDistance adds up the distances of the last words of known to those of a
// name; ok is false where a word is too far from its counterpart.
func wordDistance(words, known []string) (sum int, ok bool) {
	if len(words) > len(known) {
		return 0, false
	}
	known = known[len(known)-len(words):]
	for i, w := range words {
		if w == known[i] {
			continue
		}
		if _, ok := Nearest(w, known[i:i+1]); !ok {
			return 0, false
		}
		sum += distance([]rune(w), []rune(known[i]))
	}
	return sum, true
}
