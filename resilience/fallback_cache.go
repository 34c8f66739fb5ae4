package resilience

import (
	"fmt"
	"sort"
	"time"

	"blastradius/sim/call"
	"blastradius/sim/dist"
)

// Keys are what calls ask for: each has an answer of its own in the cache.
type Keys struct {
	Count int     `yaml:"count" unit:"count" min:"1" max:"1000000" short:"true" required:"true" help:"keys that are asked for"`
	Zipf  float64 `yaml:"zipf" unit:"factor" min:"0" max:"10" help:"how unlike their popularity is: the k-th is asked for in proportion to 1/k^zipf; 0 is all alike"`
}

// text is e.g. "1000 keys, zipf 1.1".
func (k *Keys) text() string {
	out := fmt.Sprintf("%d keys", k.Count)
	if k.Count == 1 {
		out = "1 key"
	}
	if k.Zipf > 0 {
		out += fmt.Sprintf(", zipf %g", k.Zipf)
	}
	return out
}

// keyPurpose keys the draw of what a call asks for. It is the same at every
// cache that the call meets.
var keyPurpose = dist.Hash("key")

// cache holds when the answer of each key last came in. The zero cache has no
// keys and remembers nothing.
type cache struct {
	at  []time.Duration // by key; cold: no answer
	cum []float64       // Σ popularity up to and with the key; nil when all are alike
}

const cold = time.Duration(-1)

// newCache makes a cache of the keys; nil is one key, whatever is asked for.
func newCache(k *Keys) cache {
	if k == nil {
		return cache{at: []time.Duration{cold}}
	}
	c := cache{at: make([]time.Duration, k.Count)}
	for i := range c.at {
		c.at[i] = cold
	}
	if k.Zipf > 0 && k.Count > 1 {
		c.cum = make([]float64, k.Count)
		sum := 0.0
		for i := range c.cum {
			sum += dist.Exp(-k.Zipf * dist.Log(float64(i+1)))
			c.cum[i] = sum
		}
	}
	return c
}

// key is what a call asks for, drawn by its request: the same in every arm.
func (c *cache) key(x *call.Call) int32 {
	if len(c.at) <= 1 {
		return 0
	}
	var r dist.Rand
	r.Key(x.Stream^keyPurpose, x.Request)
	u := r.Float64()
	if c.cum == nil {
		return int32(min(int(u*float64(len(c.at))), len(c.at)-1))
	}
	u *= c.cum[len(c.cum)-1]
	return int32(min(sort.SearchFloat64s(c.cum, u), len(c.at)-1))
}

// fill notes an answer that came in now.
func (c *cache) fill(key int32, now time.Duration) {
	if len(c.at) > 0 {
		c.at[key] = now
	}
}

// age is how old the key's answer is; ok is false when there is none.
func (c *cache) age(key int32, now time.Duration) (age time.Duration, ok bool) {
	if c.at[key] == cold {
		return 0, false
	}
	return now - c.at[key], true
}
