package load

// Kinds are the arrival processes by the name that a scenario file uses.
var Kinds = map[string]func() Config{
	"poisson": func() Config { return &PoissonRate{} },
	"even":    func() Config { return &EvenRate{} },
	"steps":   func() Config { return &Steps{Process: Poisson} },
	"ramp":    func() Config { return &Ramp{Process: Poisson} },
	"at":      func() Config { return &At{} },
}
