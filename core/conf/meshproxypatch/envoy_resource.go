package meshproxypatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/strict"
)

// EnvoyResource is an Envoy resource as the text of a YAML document. Its
// fields are not looked at here: what Envoy's types are is the business of
// whoever makes resources.
type EnvoyResource string

// Validate checks that the text is one mapping.
func (r EnvoyResource) Validate(at *strict.At) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(r), &fields); err != nil {
		at.Errorf("write the resource's fields as YAML", "is no YAML mapping: %v", err)
	} else if len(fields) == 0 {
		at.Errorf("write the resource's fields as YAML", "must not be empty")
	}
}
