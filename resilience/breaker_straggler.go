package resilience

// What the late result of a call from an earlier state does.
const (
	stragglerDrop   = "drop"
	stragglerCount  = "count"
	stragglerPermit = "permit"
	stragglerRecord = "record"
	stragglerExtend = "extend"
	stragglerClose  = "close"
	stragglerReopen = "reopen"
)
