package cli

import (
	"bytes"
	"fmt"
	"strings"

	"blastradius/scenarios"
)

// keyGroups are the keys of the breaker by the question they answer.
var keyGroups = []struct {
	title string
	keys  []string
}{
	{"What opens it", []string{"window", "consecutive", "failures", "ratio", "above", "rounding", "min_calls", "clamp", "slow.over", "slow.ratio", "slow.in_flight"}},
	{"When it decides", []string{"evaluate", "tick", "resolution", "count_at", "record"}},
	{"How long it stays open", []string{"cooldown", "open.growth", "open.max", "open.jitter", "open.from", "open.past", "open.wake"}},
	{"Half-open", []string{"half_open.admit", "probes", "half_open.decide", "half_open.need", "half_open.of", "neutral_probe", "lease", "half_open.max_stay", "half_open.then", "half_open.refusal", "half_open.keep"}},
	{"Late results", []string{"stragglers.closed", "stragglers.open", "stragglers.half_open", "clear_on"}},
	{"What an outcome means", []string{"verdicts.ok", "verdicts.client_error", "verdicts.server_error", "verdicts.throttled", "verdicts.connect_error", "verdicts.timeout", "verdicts.cancelled", "verdicts.rejected", "verdicts.degraded"}},
}

// dialectPages shows each dialect and then, key by key, who has which value.
func dialectPages() []byte {
	all := scenarios.Dialects()
	var b bytes.Buffer
	b.WriteString("\ndialects of the breaker\n")
	for _, d := range all {
		text := d.About
		if d.Known != "own" {
			text += fmt.Sprintf(" (%s; %s)", d.Of, d.Known)
		}
		if d.Differs != "" {
			text += "; " + d.Differs
		}
		indented(&b, 2, fmt.Sprintf("%-22s", d.Name), text)
	}
	for _, g := range keyGroups {
		b.WriteString("\n" + strings.ToLower(g.title[:1]) + g.title[1:] + "\n")
		for _, key := range g.keys {
			indented(&b, 2, fmt.Sprintf("%-22s", key), who(all, key))
		}
	}
	return b.Bytes()
}

// who says which dialects have which value of a key, the own one's first.
func who(all []scenarios.DialectInfo, key string) string {
	var values []string
	names := map[string][]string{}
	for i := range all {
		v := shown(all[i].Value(key))
		if len(names[v]) == 0 {
			values = append(values, v)
		}
		names[v] = append(names[v], all[i].Name)
	}
	if len(values) == 1 {
		return values[0] + " in all"
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = v + ": " + strings.Join(names[v], ", ")
		if i == 0 && len(names[v]) > len(all)/2 {
			parts[i] = v + " in all but these"
		}
	}
	return strings.Join(parts, "; ")
}

// shown writes an absent value so that it can be seen.
func shown(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

// dialectMarkdown is the matrix for the documentation: a table for each question
// with a row for each dialect, without the keys that nobody sets.
func dialectMarkdown() []byte {
	all := scenarios.Dialects()
	var b bytes.Buffer
	b.WriteString("| dialect | of | known | what sets it apart |\n|---|---|---|---|\n")
	for _, d := range all {
		about := d.About
		if d.Differs != "" {
			about += "; " + d.Differs
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Of, d.Known, about)
	}
	for _, g := range keyGroups {
		var keys []string
		same := []string{}
		for _, key := range g.keys {
			if v := all[0].Value(key); agree(all, key, v) {
				same = append(same, fmt.Sprintf("`%s` %s", key, shown(v)))
			} else {
				keys = append(keys, key)
			}
		}
		fmt.Fprintf(&b, "\n### %s\n\n| dialect | %s |\n|---|%s\n", g.title, strings.Join(keys, " | "), strings.Repeat("---|", len(keys)))
		for i := range all {
			fmt.Fprintf(&b, "| `%s` |", all[i].Name)
			for _, key := range keys {
				fmt.Fprintf(&b, " %s |", shown(all[i].Value(key)))
			}
			b.WriteString("\n")
		}
		if len(same) > 0 {
			b.WriteString("\nThe same in all: " + strings.Join(same, ", ") + ".\n")
		}
	}
	return b.Bytes()
}

func agree(all []scenarios.DialectInfo, key, value string) bool {
	for i := range all {
		if all[i].Value(key) != value {
			return false
		}
	}
	return true
}
