package faults

// Kinds are the faults by the name that a scenario file uses.
var Kinds = map[string]func() Config{
	"slow":  func() Config { return &Slow{} },
	"error": func() Config { return &Error{Class: "server_error", Rate: 1} },
	"down":  func() Config { return &Down{} },
	"hang":  func() Config { return &Hang{} },
}
