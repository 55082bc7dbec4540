package meshproxypatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// EnvoyResource is the YAML text of an Envoy resource or a part of one. The
// modification that contains it determines its type, and checks its fields and the
// types of its extensions.
type EnvoyResource string

// Validate checks that the text is one mapping that can be converted to JSON.
func (r EnvoyResource) Validate(at *diag.At) {
	if _, err := r.JSON(); err != nil {
		at.Errorf(diag.BadEnvoyResource, "write the resource's fields as YAML", "%v", err)
	}
}

// JSON returns the resource as JSON.
func (r EnvoyResource) JSON() ([]byte, error) {
	fields, err := r.fields()
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// fields returns the fields of the resource, by their names in the text.
func (r EnvoyResource) fields() (map[string]conf.JSON, error) {
	doc, err := r.parse()
	if err != nil {
		return nil, err
	}
	var fields map[string]conf.JSON
	strict.Decode(doc.Root(), &fields)
	return fields, nil
}

// parse returns the only document of the text, a mapping that is not empty.
func (r EnvoyResource) parse() (*strict.Document, error) {
	if strings.TrimSpace(string(r)) == "" {
		return nil, errors.New("must not be empty")
	}
	var sink diag.Sink
	var mappings []*strict.Document
	for doc := range strict.Documents("", strict.Chunks([]byte(r), 1)[0], strict.DefaultLimits, &sink) {
		var fields map[string]conf.JSON
		if strict.Decode(doc.Root(), &fields) && len(fields) > 0 {
			mappings = append(mappings, doc)
		}
	}
	var mistakes diag.Errors
	switch {
	case errors.As(sink.Err(), &mistakes):
		return nil, fmt.Errorf("line %d of the text: %s", mistakes[0].Pos.Line, mistakes[0].Message())
	case len(mappings) != 1:
		return nil, fmt.Errorf("must be one mapping, not %d", len(mappings))
	}
	return mappings[0], nil
}

// checkType reports fields that do not conform to a message type of Envoy's
// API. [EnvoyResource.Validate] reports a text that is not a mapping.
func (r *EnvoyResource) checkType(at *diag.At, message string) {
	if r == nil {
		return
	}
	doc, err := r.parse()
	if err != nil {
		return
	}
	var tree any
	strict.Decode(doc.Root(), &tree)
	var sink diag.Sink
	envoyapi.Check(diag.Root(doc, &sink), message, tree)
	var mistakes diag.Errors
	if !errors.As(sink.Err(), &mistakes) {
		return
	}
	texts := make([]string, len(mistakes))
	for i := range mistakes {
		texts[i] = fmt.Sprintf("line %d of the text: ", mistakes[i].Pos.Line)
		if mistakes[i].Path != "" {
			texts[i] += mistakes[i].Path + ": "
		}
		texts[i] += mistakes[i].Message()
	}
	at.Errorf(diag.BadEnvoyResource, "", "%s", strings.Join(texts, "; "))
}
