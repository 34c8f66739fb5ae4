package resilience

import "blastradius/sim/call"

// Verdict is what an outcome means to a breaker.
type Verdict uint8

// Verdicts.
const (
	Success Verdict = iota // the dependency is well
	Failure                // it is not
	Alive                  // it answered: neutral while closed, a success for a half-open probe
	Neutral                // says nothing about it: a half-open slot goes back
	Suspect                // neutral while closed, a failure for a half-open probe
	Attempt                // counts in the total while closed and is no failure; neutral for a probe
	Lost                   // neutral while closed; a half-open probe's slot is gone
)

var verdictNames = [...]string{"success", "failure", "alive", "neutral", "suspect", "attempt", "lost"}

// String gives the verdict's name in files.
func (v Verdict) String() string { return verdictNames[v] }

// defaultVerdicts judge an outcome as DESIGN.md section 2 does.
var defaultVerdicts = [call.NumClasses]Verdict{
	call.OK:           Success,
	call.ClientError:  Alive,
	call.ServerError:  Failure,
	call.Throttled:    Neutral,
	call.ConnectError: Failure,
	call.Timeout:      Failure,
	call.Cancelled:    Neutral,
	call.Rejected:     Neutral,
	call.Degraded:     Neutral,
}

// verdictsOf applies a file's map of class to verdict to the dialect's. Names
// are valid.
func verdictsOf(dialect string, changes map[string]string) [call.NumClasses]Verdict {
	out := defaultVerdicts
	if d, ok := Dialects[dialect]; ok && d.Verdicts != nil {
		out = *d.Verdicts
	}
	for class, name := range changes {
		c, _ := call.ParseClass(class)
		for v, n := range verdictNames {
			if n == name {
				out[c] = Verdict(v)
			}
		}
	}
	return out
}
