package faults

import "time"

// Timeline says when a fault is active and for which share of the work.
type Timeline struct {
	From  time.Duration // first instant, since the start of the run
	For   time.Duration // length; 0 lasts until the end of the run
	Every time.Duration // repeats with this period; 0 happens once
	Share float64       // share of the attempts it hits, 0 < share <= 1
}
