package scenarios

import (
	"embed"
	"strings"
)

//go:embed library/*.yaml
var library embed.FS

//go:embed starter.yaml
var starter string

// Builtins lists the names of the built-in scenarios, sorted.
func Builtins() (names []string) {
	entries, err := library.ReadDir("library")
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// BuiltinSource is the text of a built-in scenario.
func BuiltinSource(name string) ([]byte, error) {
	src, err := library.ReadFile("library/" + name + ".yaml")
	if err != nil {
		return nil, &UnknownName{What: "scenario", Name: name, Known: Builtins()}
	}
	return src, nil
}

// Builtin loads a built-in scenario.
func Builtin(name string) (*File, error) {
	src, err := BuiltinSource(name)
	if err != nil {
		return nil, err
	}
	return Load(name, src)
}

// Starter is the commented file that init writes.
func Starter() string { return starter }
