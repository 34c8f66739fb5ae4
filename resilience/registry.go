package resilience

// Layers are the policies by the name that a scenario file uses.
var Layers = map[string]func() Config{
	"breaker":  newBreaker,
	"bulkhead": newBulkhead,
	"timeout":  newTimeout,
	"retry":    newRetry,
	"fallback": newFallback,
	"outlier":  newOutlier,

	"rate_limit":        newRateLimit,
	"concurrency_limit": newConcurrencyLimit,
	"throttle":          newThrottle,
	"hedge":             newHedge,
}
