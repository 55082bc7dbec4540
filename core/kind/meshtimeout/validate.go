package meshtimeout

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate reports a conf without timeouts, and a connection timeout of zero, which Envoy
// does not accept. Zero disables any other timeout.
func (c *Conf) Validate(at *diag.At) {
	conf.RefuseIdle(at, c)
	if c.ConnectionTimeout != nil && *c.ConnectionTimeout == 0 {
		at.Field("connectionTimeout").Errorf(diag.OutOfRange, "", "must be longer than 0s")
	}
}

// Validate checks that there are timeouts.
func (h *HTTP) Validate(at *diag.At) { conf.RefuseIdle(at, h) }

// ValidateMatches reports timeouts of a connection in a rule that depends on the
// client's SPIFFE ID: they start before the ID is known.
func (c *Conf) ValidateMatches(at *diag.At, matches []conf.Match) {
	if !slices.ContainsFunc(matches, func(m conf.Match) bool { return m.SpiffeID != nil }) {
		return
	}
	refuse := func(at *diag.At, field string, timeout *conf.Duration) {
		if timeout != nil {
			at.Field(field).Errorf(diag.MatchNotAllowed, "move it to a rule without spiffeId", "cannot depend on a spiffeId match")
		}
	}
	refuse(at, "connectionTimeout", c.ConnectionTimeout)
	refuse(at, "idleTimeout", c.IdleTimeout)
	if c.HTTP != nil {
		refuse(at.Field("http"), "maxConnectionDuration", c.HTTP.MaxConnectionDuration)
		refuse(at.Field("http"), "requestHeadersTimeout", c.HTTP.RequestHeadersTimeout)
	}
}
