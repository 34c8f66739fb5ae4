package resilience

// Interrupter is a configuration whose layer may cancel what is inside while its
// own caller still waits, or start an attempt while another one is out. In real
// time the work then needs a goroutine of its own, so that the caller can go on
// without it; under all other layers it runs in the caller's.
type Interrupter interface{ Interrupts() bool }

// Interrupts reports whether c says of itself that it does.
func Interrupts(c Config) bool {
	i, ok := c.(Interrupter)
	return ok && i.Interrupts()
}

// Interrupts is true: a timeout ends what is inside.
func (*Timeout) Interrupts() bool { return true }
