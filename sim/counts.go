package sim

// CountsAttempts reports whether layer i of a stack, outermost first, is the one
// that tells a breaker outside of it of every attempt: resilience.Env has to
// say so to it.
func CountsAttempts(stack []Layer, i int) bool { return countsAttempts(stack, i) }
