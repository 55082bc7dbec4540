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
	data, err := r.JSON()
	switch {
	case err != nil:
		at.Errorf(diag.BadEnvoyResource, "write the resource's fields as YAML", "%v", err)
	case len(data) > maxResource:
		at.Errorf(diag.InputTooLarge, "write less", "has %d bytes as JSON, and at most %d are allowed", len(data), maxResource)
	}
}

// maxResource is the limit of a resource as JSON: each proxy, and each resource that it is merged
// into, has a copy.
const maxResource = 1 << 20

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
	_, fields, err := r.parse()
	return fields, err
}

// parse returns the only document of the text, a mapping that is not empty, and its fields.
func (r EnvoyResource) parse() (mapping *strict.Document, fields map[string]conf.JSON, err error) {
	if strings.TrimSpace(string(r)) == "" {
		return nil, nil, errors.New("must not be empty")
	}
	var sink diag.Sink
	mappings := 0
	for doc := range strict.Documents("", strict.Chunks([]byte(r), 1)[0], strict.DefaultLimits, &sink) {
		var content map[string]conf.JSON
		if strict.Decode(doc.Root(), &content) && len(content) > 0 {
			mapping, fields = doc, content
			mappings++
		}
	}
	var mistakes diag.Errors
	switch {
	case errors.As(sink.Err(), &mistakes):
		return nil, nil, fmt.Errorf("line %d of the text: %s", mistakes[0].Pos.Line, mistakes[0].Message())
	case mappings != 1:
		return nil, nil, fmt.Errorf("must be one mapping, not %d", mappings)
	}
	return mapping, fields, nil
}

// checkType reports fields that do not conform to a message type of Envoy's
// API. It returns the fields, or nil if there is no mapping: [EnvoyResource.Validate]
// reports that.
func (r *EnvoyResource) checkType(at *diag.At, message string) (fields map[string]conf.JSON) {
	if r == nil {
		return nil
	}
	doc, fields, err := r.parse()
	if err != nil {
		return nil
	}
	var tree any
	strict.Decode(doc.Root(), &tree)
	var sink diag.Sink
	envoyapi.Check(diag.Root(doc, &sink), message, tree)
	var mistakes diag.Errors
	if !errors.As(sink.Err(), &mistakes) {
		return fields
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
	return fields
}
