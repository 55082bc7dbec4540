package meshproxypatch

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
)

// JSONPatch is one operation of RFC 6902 on a resource as JSON.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"op": {"enum": ["add", "replace"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"op": {"enum": ["move", "copy"]}}}}, {"required": ["from"]}]}, {"anyOf": [{"not": {"properties": {"op": {"enum": ["remove", "move", "copy"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"op": {"enum": ["add", "replace", "remove"]}}}}, {"not": {"required": ["from"]}}]}]}
type JSONPatch struct {
	Op    JSONPatchOp `json:"op"`
	Path  JSONPointer `json:"path"`
	Value *conf.JSON  `json:"value,omitzero"`
	// From is the source of the value for Move and Copy.
	From *JSONPointer `json:"from,omitzero"`
}

// JSONPatchOp is an operation of RFC 6902.
type JSONPatchOp string

// The operations.
const (
	JSONAdd     JSONPatchOp = "add"
	JSONRemove  JSONPatchOp = "remove"
	JSONReplace JSONPatchOp = "replace"
	JSONMove    JSONPatchOp = "move"
	JSONCopy    JSONPatchOp = "copy"
)

// Enum returns the allowed values.
func (JSONPatchOp) Enum() []string {
	return conf.Words(JSONAdd, JSONRemove, JSONReplace, JSONMove, JSONCopy)
}

// Validate checks that value and from are present if and only if the operation needs
// them.
func (p *JSONPatch) Validate(at *diag.At) {
	needs := func(field string, needed, present bool) {
		switch {
		case needed && !present:
			at.Field(field).Errorf(diag.MissingField, "", "is required for %q", p.Op)
		case !needed && present:
			at.Field(field).Errorf(diag.FieldNotAllowed, "remove it", "is not allowed with %q", p.Op)
		}
	}
	if !slices.Contains(p.Op.Enum(), string(p.Op)) {
		return // reported at its place
	}
	if p.Value != nil {
		checkExtensions(at.Field("value"), *p.Value)
	}
	needs("value", p.Op == JSONAdd || p.Op == JSONReplace, p.Value != nil)
	needs("from", p.Op == JSONMove || p.Op == JSONCopy, p.From != nil)
	if p.Op == JSONRemove && p.Path == "" {
		at.Field("path").Errorf(diag.FieldNotAllowed, "use operation Remove", "the whole resource cannot be removed by a patch")
	}
}

// JSONPointer is a location in a JSON value (RFC 6901).
//
//confgen:openapi {"pattern": "^(/([^~]|~0|~1)*)?$"}
type JSONPointer string

// Validate checks that the pointer starts with / and that ~ is escaped.
func (p JSONPointer) Validate(at *diag.At) {
	text := string(p)
	if text != "" && !strings.HasPrefix(text, "/") {
		at.Errorf(diag.BadValue, "", "must be a JSON pointer that starts with /")
		return
	}
	if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(text), "~") {
		at.Errorf(diag.BadValue, "write ~0 for ~ and ~1 for / in a name", "bad JSON pointer %q", text)
	}
	if len(text) > maxPointer {
		at.Errorf(diag.BadValue, "", "has %d bytes, and at most %d are allowed", len(text), maxPointer)
	}
	if levels := strings.Count(text, "/"); levels > maxLevels {
		at.Errorf(diag.BadValue, "", "has %d levels, and at most %d are allowed", levels, maxLevels)
	}
	for part := range strings.SplitSeq(text, "/") {
		// A list is filled up to the index, which may be many elements.
		if index, err := strconv.Atoi(part); err == nil && index > maxIndex || errors.Is(err, strconv.ErrRange) {
			at.Errorf(diag.BadValue, "use - for the end of a list", "the index %s is above %d", part, maxIndex)
		}
	}
}

// Limits of a pointer: bytes, levels, and an index of a list.
const maxPointer, maxLevels, maxIndex = 4 << 10, 100, 1000

// checkExtensions reports fields that do not conform to the types of the extensions
// in a value.
func checkExtensions(at *diag.At, value conf.JSON) {
	var tree any
	if json.Unmarshal([]byte(value), &tree) == nil {
		envoyapi.CheckPart(at, tree)
	}
}
