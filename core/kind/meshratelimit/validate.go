package meshratelimit

import (
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// MinInterval is the shortest interval in which Envoy fills its token bucket.
const MinInterval = conf.Duration(50 * time.Millisecond)

// Validate checks the interval.
func (r *Rate) Validate(at *diag.At) {
	if r.Interval < MinInterval {
		at.Field("interval").Errorf(diag.OutOfRange, "", "must be at least %s", MinInterval)
	}
}

// Validate checks that the conf has limits.
func (c *Conf) Validate(at *diag.At) { conf.RefuseIdle(at, c) }

// Validate checks that there are limits.
func (l *Local) Validate(at *diag.At) { conf.RefuseIdle(at, l) }

// Validate checks that the object sets something.
func (h *HTTP) Validate(at *diag.At) { conf.RefuseIdle(at, h) }

// Validate checks that the object sets something.
func (t *TCP) Validate(at *diag.At) { conf.RefuseIdle(at, t) }

// MaxHeaders is the number of headers that Envoy adds to the response.
const MaxHeaders = 10

// Validate checks that Envoy adds so many headers, and has the status. It warns of a status
// that is not an error, because Envoy responds with 429 instead.
func (o *OnRateLimit) Validate(at *diag.At) {
	if n := o.Headers.Len(); n > MaxHeaders {
		at.Field("headers").Errorf(diag.OutOfRange, "", "changes %d headers; the limit of Envoy is %d for this response", n, MaxHeaders)
	}
	if o.Status == nil {
		return
	}
	switch status := *o.Status; {
	case status < 400:
		at.Field("status").Warnf(diag.ProxyDiffers, "use a status from 400", "Envoy responds with 429 instead of %d, which is not an error", status)
	case !slices.Contains(errorStatuses, status):
		at.Field("status").Errorf(diag.OutOfRange, "use a status that is registered for HTTP", "Envoy does not have the status %d", status)
	}
}

// errorStatuses are the statuses from 400 that Envoy's HttpStatus has.
var errorStatuses = []conf.StatusCode{
	400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 426, 428, 429, 431,
	500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511,
}
