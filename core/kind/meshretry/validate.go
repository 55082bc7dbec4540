package meshretry

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate warns about retries that set nothing.
func (t *TCP) Validate(at *diag.At) { conf.WarnIdle(at, t) }

// Validate warns about retries that set nothing.
func (g *GRPC) Validate(at *diag.At) { conf.WarnIdle(at, g) }

// Validate warns about a back-off that sets nothing.
func (r *RateLimitedBackOff) Validate(at *diag.At) { conf.WarnIdle(at, r) }

// Validate checks that the interval can grow.
func (b *BackOff) Validate(at *diag.At) {
	conf.WarnIdle(at, b)
	if b.BaseInterval != nil && b.MaxInterval != nil && *b.MaxInterval < *b.BaseInterval {
		at.Field("maxInterval").Errorf("", "must not be shorter than baseInterval (%s)", b.BaseInterval)
	}
}

// Validate checks that a host is chosen at least once.
func (h *HTTP) Validate(at *diag.At) {
	conf.WarnIdle(at, h)
	if h.HostSelectionMaxAttempts != nil && *h.HostSelectionMaxAttempts < 1 {
		at.Field("hostSelectionMaxAttempts").Errorf("", "must be at least 1")
	}
}
