package live

import (
	"reflect"

	"blastradius/resilience"
	"blastradius/sim"
	"blastradius/sim/call"
	"blastradius/sim/des"
)

// kindOf is the registered name of a configuration's type.
func kindOf(c resilience.Config) string {
	for kind, make := range resilience.Layers {
		if reflect.TypeOf(make()) == reflect.TypeOf(c) {
			return kind
		}
	}
	panic("not registered")
}

// build is the same stack in virtual time.
func build(k *des.Kernel, stack []sim.Layer, inner call.Handler) call.Handler {
	var layers []call.Layer
	for i, l := range stack {
		layers = append(layers, l.Config.Layer(resilience.Env{
			Sched: k, Meter: des.NullMeter{}, Source: "live." + l.Name, CountsAttempts: sim.CountsAttempts(stack, i),
		}))
	}
	return call.Stack(inner, layers...)
}
