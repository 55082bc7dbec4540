package meshaccesslog

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Validate checks that there is one way to the collector.
func (o *OpenTelemetry) Validate(at *strict.At) {
	conf.ValidateCollector(at, o.Endpoint, o.BackendRef)
}

// Validate checks that the attribute can be told from others.
func (a *Attribute) Validate(at *strict.At) {
	if a.Key == "" {
		at.Field("key").Errorf("", "must not be empty")
	}
}

// Validate checks that the format writes something.
func (f *Format) Validate(at *strict.At) {
	switch {
	case f.Type == PlainFormat && f.Plain != nil && *f.Plain == "":
		at.Field("plain").Errorf("leave the format out for Envoy's own", "must not be empty")
	case f.Type == JSONFormat && f.JSON != nil && len(f.JSON) == 0:
		at.Field("json").Errorf("leave the format out for Envoy's own", "must not be empty")
	}
	seen := map[string]bool{}
	for i, field := range f.JSON {
		if seen[field.Key] {
			at.Field("json").Index(i).Field("key").Errorf("", "duplicate key %q", field.Key)
		}
		seen[field.Key] = true
	}
}

// Validate checks that the field has a name and a value.
func (f *Field) Validate(at *strict.At) {
	if f.Key == "" {
		at.Field("key").Errorf("", "must not be empty")
	}
	if f.Value == "" {
		at.Field("value").Errorf("", "must not be empty")
	}
}
