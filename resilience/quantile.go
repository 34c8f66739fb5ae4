package resilience

import "math"

// movingQuantile estimates a quantile of a stream in constant memory and follows
// it when it moves: the moving percentile of Martin Jambon (2016) as failsafe-go
// has it (internal/util/quantile.go). A sample below the estimate lowers it by
// δ/q, one above it raises it by δ/(1-q), so it rests where a share q is below;
// δ is a hundredth of the standard deviation, and that one and the mean are
// exponential averages over about age samples, this one included: one far above
// widens its own step, and the estimate rests a little high (95.3 % of exponential
// samples are below that of 95 %, at an age of 100).
type movingQuantile struct {
	alpha, down, up       float64 // up and down are the steps over the standard deviation
	count                 int
	value, mean, variance float64
}

const quantileStep = 0.01 // δ over the standard deviation

func newMovingQuantile(q float64, age int) movingQuantile {
	return movingQuantile{alpha: 2 / (float64(age) + 1), down: quantileStep / q, up: quantileStep / (1 - q)}
}

func (m *movingQuantile) add(x float64) {
	if m.count++; m.count == 1 {
		m.value, m.mean = x, x
		return
	}
	off := x - m.mean
	m.mean += float64(m.alpha * off)
	m.variance += float64(m.alpha * (float64(off*(x-m.mean)) - m.variance))
	deviation := math.Sqrt(max(0, m.variance))
	switch {
	case x < m.value:
		m.value -= float64(deviation * m.down)
	case x > m.value:
		m.value += float64(deviation * m.up)
	}
}
