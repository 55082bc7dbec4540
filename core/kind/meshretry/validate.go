package meshretry

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that the conf has a setting.
func (c *Conf) Validate(at *diag.At) { conf.RefuseIdle(at, c) }

// Validate checks that the retries set something.
func (t *TCP) Validate(at *diag.At) { conf.RefuseIdle(at, t) }

// Validate checks that the retries set something.
func (g *GRPC) Validate(at *diag.At) { conf.RefuseIdle(at, g) }

// Validate checks that there are headers that contain the back-off.
func (r *RateLimitedBackOff) Validate(at *diag.At) {
	if r.ResetHeaders == nil {
		at.Field("resetHeaders").Errorf(diag.MissingField, "give the headers that contain the time to wait", "required field is missing")
	}
}

// Validate checks that the back-off has a setting, and that the interval can grow.
func (b *BackOff) Validate(at *diag.At) {
	conf.RefuseIdle(at, b)
	if b.BaseInterval != nil && b.MaxInterval != nil && *b.MaxInterval < *b.BaseInterval {
		at.Field("maxInterval").Errorf(diag.OutOfRange, "", "must not be shorter than baseInterval (%s)", b.BaseInterval)
	}
}

// Validate checks that the retries have a setting, and that a host is chosen at least
// once.
func (h *HTTP) Validate(at *diag.At) {
	conf.RefuseIdle(at, h)
	if h.HostSelectionMaxAttempts != nil && *h.HostSelectionMaxAttempts < 1 {
		at.Field("hostSelectionMaxAttempts").Errorf(diag.OutOfRange, "", "must be at least 1")
	}
}
