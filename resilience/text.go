package resilience

import (
	"fmt"
	"strings"
	"time"
)

// brief writes a duration as people type it: 10m, not 10m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// percent writes a share as people type it.
func percent(share float64) string { return fmt.Sprintf("%.6g%%", share*100) }
