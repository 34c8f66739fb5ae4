package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blastradius/scenarios"
)

// badValue is a flag's value that it does not take, and what to type instead.
type badValue struct{ text, hint string }

// Error is the fact, said of the value.
func (b *badValue) Error() string { return b.text }

// flagFailure turns what the flag parser says into one line and a hint.
func flagFailure(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return wrongUse("e.g. "+flagExample(f), "%s needs a value", flagName(f))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		var bad *badValue
		if errors.As(err, &bad) {
			return wrongUse(bad.hint, "%s: %s", flagName(f), bad.text)
		}
		if f.Value.Type() == "bool" {
			return wrongUse(flagName(f)+" alone switches it on", "%s takes no value, got %q", flagName(f), invalid.GetValue())
		}
		return wrongUse("e.g. "+flagExample(f), "%s does not take %q", flagName(f), invalid.GetValue())
	case errors.As(err, &syntax):
		return wrongUse(cmd.CommandPath()+" --help lists the flags", "%s is no flag", syntax.GetSpecifiedFlag())
	}
	return wrongUse(cmd.CommandPath()+" --help lists the flags", "%s", err)
}

// unknownFlag finds the flag that was meant: of this command, else the command
// that has it.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name, shown := err.GetSpecifiedName(), "--"+err.GetSpecifiedName()
	if err.GetSpecifiedShortnames() != "" {
		shown = "-" + name
		// -seed is read as the letters s, e, e, d; the whole word is what was typed.
		if whole := err.GetSpecifiedShortnames(); len(whole) > 1 {
			name, shown = whole, "-"+whole
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := scenarios.Nearest(strings.SplitN(name, "=", 2)[0], names); ok {
		return wrongUse(fmt.Sprintf("did you mean --%s?", near), "unknown flag %s", shown)
	}
	for _, other := range cmd.Root().Commands() {
		if f := other.Flags().Lookup(name); f != nil && other != cmd && !other.Hidden {
			return wrongUse(fmt.Sprintf("%s takes it", other.CommandPath()), "%s does not take %s", cmd.CommandPath(), shown)
		}
	}
	return wrongUse(cmd.CommandPath()+" --help lists the flags", "unknown flag %s", shown)
}

func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + "/--" + f.Name
	}
	return "--" + f.Name
}

// exampleAnnotation holds a value to show when one is missing or wrong.
const exampleAnnotation = "example"

func flagExample(f *pflag.Flag) string {
	if e := f.Annotations[exampleAnnotation]; len(e) > 0 {
		return "--" + f.Name + " " + e[0]
	}
	return "--" + f.Name + " " + strings.ToUpper(f.Value.Type())
}

// value is a flag whose text is parsed by a function; the name in help is kind.
type value[T any] struct {
	target *T
	kind   string
	text   string
	parse  func(string) (T, error)
}

// String is the text given, or the default's.
func (v *value[T]) String() string { return v.text }

// Type is the placeholder in help.
func (v *value[T]) Type() string { return v.kind }

// Set parses the text.
func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.target, v.text = t, s
	return nil
}

// addFlag registers a parsed flag with an example to show when it goes wrong.
func addFlag[T any](flags *pflag.FlagSet, target *T, name, short, kind, defaultText, example, help string, parse func(string) (T, error)) {
	f := flags.VarPF(&value[T]{target: target, kind: kind, text: defaultText, parse: parse}, name, short, help)
	f.DefValue = defaultText
	f.Annotations = map[string][]string{exampleAnnotation: {example}}
}

// addList registers a flag that may be given several times, each text as it
// stands: a comma is part of it.
func addList(flags *pflag.FlagSet, target *[]string, name, kind, example, help string) {
	flags.Var(&list{target: target, kind: kind}, name, help)
	flags.Lookup(name).Annotations = map[string][]string{exampleAnnotation: {example}}
}

type list struct {
	target *[]string
	kind   string
}

// String is empty: the default is no value.
func (l *list) String() string { return "" }

// Type is the placeholder in help.
func (l *list) Type() string { return l.kind }

// Set adds one.
func (l *list) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return &badValue{"is empty", "leave it out, or say what"}
	}
	*l.target = append(*l.target, s)
	return nil
}

// word parses one of a few words.
func word(known ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(known, s) {
			return s, nil
		}
		hint := "one of " + strings.Join(known, ", ")
		if near, ok := scenarios.Nearest(s, known); ok {
			hint = fmt.Sprintf("did you mean %q? (%s)", near, hint)
		}
		return "", &badValue{fmt.Sprintf("unknown %q", s), hint}
	}
}

// atLeast parses a whole number from least on.
func atLeast(least int, example string) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return 0, &badValue{fmt.Sprintf("%s is too large", s), "e.g. " + example}
		case err != nil:
			return 0, &badValue{fmt.Sprintf("%q is not a whole number", s), "e.g. " + example}
		case n < least:
			return 0, &badValue{fmt.Sprintf("%d is below %d", n, least), "e.g. " + example}
		}
		return n, nil
	}
}

// seed parses a seed, 0 to 2^64-1.
func seed(s string) (*uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, &badValue{fmt.Sprintf("%s is too large", s), fmt.Sprintf("at most %d", uint64(math.MaxUint64))}
	case err != nil:
		return nil, &badValue{fmt.Sprintf("%q is not a whole number from 0", s), "e.g. --seed 42"}
	}
	return &n, nil
}

// positive parses a duration above 0 in the units of scenario files.
func positive(example string) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		d, err := scenarios.ParseDuration(s)
		if err != nil {
			hint := "e.g. " + example
			if _, bare := strconv.ParseFloat(s, 64); bare == nil {
				hint = s + "s?"
			}
			return 0, &badValue{fmt.Sprintf("%q is not a duration", s), hint}
		}
		if d <= 0 {
			return 0, &badValue{fmt.Sprintf("%s is not above 0", s), "e.g. " + example}
		}
		return d, nil
	}
}
