package meshratelimit

import (
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// MinInterval is the shortest interval that Envoy fills its token bucket in.
const MinInterval = conf.Duration(50 * time.Millisecond)

// Validate checks the interval.
func (r *Rate) Validate(at *strict.At) {
	if r.Interval < MinInterval {
		at.Field("interval").Errorf("", "must be at least %s", MinInterval)
	}
}
