package meshproxypatch

import (
	"encoding/json"
	"errors"
	"fmt"
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
	if _, err := r.JSON(); err != nil {
		at.Errorf("write the resource's fields as YAML", "%v", err)
	}
}

// JSON returns the resource as JSON.
func (r EnvoyResource) JSON() ([]byte, error) {
	if strings.TrimSpace(string(r)) == "" {
		return nil, errors.New("must not be empty")
	}
	var sink diag.Sink
	var mappings []map[string]conf.JSON
	for doc := range strict.Documents("", strict.Chunks([]byte(r), 1)[0], strict.DefaultLimits, &sink) {
		var fields map[string]conf.JSON
		if strict.Decode(doc.Root(), &fields) && len(fields) > 0 {
			mappings = append(mappings, fields)
		}
	}
	var mistakes diag.Errors
	switch {
	case errors.As(sink.Err(), &mistakes):
		return nil, fmt.Errorf("line %d of the text: %s", mistakes[0].Pos.Line, mistakes[0].Message())
	case len(mappings) != 1:
		return nil, fmt.Errorf("must be one mapping, not %d", len(mappings))
	}
	return json.Marshal(mappings[0])
}
