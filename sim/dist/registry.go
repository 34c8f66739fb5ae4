package dist

// Kinds are the latency distributions by the name that a scenario file uses.
var Kinds = map[string]func() Kind{
	"constant":    func() Kind { return &Constant{} },
	"exp":         func() Kind { return &Exponential{} },
	"lognormal":   func() Kind { return &Lognormal{} },
	"percentiles": func() Kind { return &Percentiles{} },
	"mean_p99":    func() Kind { return &MeanP99{} },
	"uniform":     func() Kind { return &Uniform{} },
	"mix":         func() Kind { return &Mix{} },
	"quantiles":   func() Kind { return &Quantiles{} },
}

// Scalar names the kind that a bare duration stands for.
const Scalar = "constant"
