package meshtimeout

import "github.com/meshmatch/meshmatch/core/strict"

// Validate refuses a connection timeout of zero, which Envoy does not accept;
// zero switches every other timeout off.
func (c *Conf) Validate(at *strict.At) {
	if c.ConnectionTimeout != nil && *c.ConnectionTimeout == 0 {
		at.Field("connectionTimeout").Errorf("", "must be longer than 0s")
	}
}
