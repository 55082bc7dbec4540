package meshmetric

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Validate checks that a regular expression compiles.
func (s *Selector) Validate(at *strict.At) {
	if s.Type == RegexSelector {
		conf.ValidateRegex(at.Field("match"), s.Match)
	}
}

// Validate checks that an address that is there is one.
func (a *Application) Validate(at *strict.At) {
	if a.Address != nil && *a.Address == "" {
		at.Field("address").Errorf("leave it out for the inbound's address", "must not be empty")
	}
}

// Validate checks that there is one way to the collector.
func (o *OpenTelemetry) Validate(at *strict.At) {
	conf.ValidateCollector(at, o.Endpoint, o.BackendRef)
}
