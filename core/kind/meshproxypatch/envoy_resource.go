package meshproxypatch

import (
	"errors"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/strict"
)

// EnvoyResource is an Envoy resource as the text of a YAML document. Its
// fields are not checked here, as the kinds do not depend on Envoy's types.
type EnvoyResource string

// Validate checks that the text is one mapping with a JSON form.
func (r EnvoyResource) Validate(at *diag.At) {
	const hint = "write the resource's fields as YAML"
	if strings.TrimSpace(string(r)) == "" {
		at.Errorf(hint, "must not be empty")
		return
	}
	var sink diag.Sink
	mappings := 0
	for doc := range strict.Documents("", strict.Chunks([]byte(r), 1)[0], strict.DefaultLimits, &sink) {
		var fields map[string]conf.JSON
		if strict.Decode(doc.Root(), &fields) && len(fields) > 0 {
			mappings++
		}
	}
	var mistakes diag.Errors
	switch {
	case errors.As(sink.Err(), &mistakes):
		at.Errorf(hint, "line %d of the text: %s", mistakes[0].Pos.Line, mistakes[0].Message())
	case mappings != 1:
		at.Errorf(hint, "must be one mapping, not %d", mappings)
	}
}
