package meshretry

import "github.com/meshmatch/meshmatch/core/strict"

// Validate checks that the interval has room to grow.
func (b *BackOff) Validate(at *strict.At) {
	if b.BaseInterval != nil && b.MaxInterval != nil && *b.MaxInterval < *b.BaseInterval {
		at.Field("maxInterval").Errorf("", "must not be shorter than baseInterval (%s)", b.BaseInterval)
	}
}

// Validate checks that a host is looked for at least once.
func (h *HTTP) Validate(at *strict.At) {
	if h.HostSelectionMaxAttempts != nil && *h.HostSelectionMaxAttempts < 1 {
		at.Field("hostSelectionMaxAttempts").Errorf("", "must be at least 1")
	}
}
