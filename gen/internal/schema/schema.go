package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/types"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/load"
)

// Schema is an OpenAPI schema, as JSON decodes it.
type Schema = map[string]any

// The extensions of Kubernetes.
const (
	preserve    = "x-kubernetes-preserve-unknown-fields"
	intOrString = "x-kubernetes-int-or-string"
)

// Generate returns the schema of a struct as indented JSON, with sorted keys. It adds what has
// no schema to problems, and then returns nil.
func Generate(source *load.Source, root *types.TypeName, problems *diag.List) []byte {
	b := builder{source: source, problems: problems}
	before := problems.Len()
	s := b.value(root.Type(), place{object: root, path: root.Name()})
	if problems.Len() > before {
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		panic(err) // a tree of plain values
	}
	return bytes.TrimSpace(out.Bytes())
}

type builder struct {
	source   *load.Source
	problems *diag.List
	open     []*types.TypeName // the named types around the current one
}

// place is what an error is about: a type or field, and the path to it.
type place struct {
	object types.Object
	path   string
}

func (b *builder) report(at place, what, hint string) {
	b.problems.Add(diag.Diagnostic{Pos: b.source.Position(at.object.Pos()), Path: at.path, What: what, Hint: hint})
}

// value returns the schema of a type.
func (b *builder) value(t types.Type, at place) Schema {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return b.value(t.Elem(), at)
	case *types.Named:
		return b.named(t, at)
	case *types.Basic:
		return b.basic(t, at)
	case *types.Slice:
		return Schema{"type": "array", "items": b.value(t.Elem(), place{at.object, at.path + "[]"})}
	case *types.Map:
		return Schema{"type": "object", "additionalProperties": b.value(t.Elem(), place{at.object, at.path + "{}"})}
	case *types.Struct:
		return b.structure(t, at)
	case *types.Interface:
		if t.NumMethods() == 0 {
			return Schema{preserve: true}
		}
	}
	b.report(at, fmt.Sprintf("%s has no schema", t), "give one with "+load.OpenAPIDirective)
	return Schema{}
}

// named returns the schema of a named type: the one of its directive if that has a type,
// else the one of the underlying type with the fields of the directive.
func (b *builder) named(t *types.Named, at place) Schema {
	object := t.Obj()
	given := b.given(object, at)
	_, typed := given["type"]
	switch {
	case typed || given[intOrString] == true || given[preserve] == true:
		return given
	case object.Pkg() != nil && object.Pkg().Path() == "time" && object.Name() == "Time":
		return Schema{"type": "string", "format": "date-time"}
	case hasMethod(t, "DecodeAt") || hasMethod(t, "UnmarshalText") || hasMethod(t, "UnmarshalJSON"):
		b.report(at, fmt.Sprintf("%s decodes itself, so it has no schema", object.Name()), "give one with "+load.OpenAPIDirective+", such as {\"type\": \"string\"}")
		return Schema{}
	case hasMethod(t, "SetEntries"):
		return with(Schema{"type": "object", "additionalProperties": Schema{"type": "string"}}, given)
	case slices.Contains(b.open, object):
		return Schema{"type": "object", preserve: true}
	}
	b.open = append(b.open, object)
	s := b.value(t.Underlying(), at)
	b.open = b.open[:len(b.open)-1]
	if _, listed := given["enum"]; !listed {
		words, err := b.source.Enum(object)
		if err != nil {
			b.report(at, fmt.Sprintf("%s: %v", object.Name(), err), "write the list, or give it with "+load.OpenAPIDirective+" {\"enum\": [...]}")
		} else if words != nil && s["type"] == "string" {
			s["enum"] = words
		}
	}
	return with(s, given)
}

// given returns the schema of the directive at a type or field, or nil.
func (b *builder) given(object types.Object, at place) Schema {
	text, pos := b.source.OpenAPI(object)
	if text == "" && !pos.IsValid() {
		return nil
	}
	var given Schema
	if err := json.Unmarshal([]byte(text), &given); err != nil || given == nil {
		b.problems.Add(diag.Diagnostic{Pos: pos, Path: at.path, What: "no JSON object after " + load.OpenAPIDirective, Hint: `write one, such as {"minimum": 1}`})
	}
	return given
}

// with returns s with the fields of given, which replace the fields of s; both lists of
// conditions hold.
func with(s, given Schema) Schema {
	own, _ := s["allOf"].([]any)
	maps.Copy(s, given)
	if more, ok := given["allOf"].([]any); ok {
		s["allOf"] = slices.Concat(own, more)
	}
	return s
}

func (b *builder) basic(t *types.Basic, at place) Schema {
	switch t.Kind() {
	case types.Bool:
		return Schema{"type": "boolean"}
	case types.String:
		return Schema{"type": "string"}
	case types.Float32, types.Float64:
		return Schema{"type": "number"}
	case types.Int, types.Int64:
		return Schema{"type": "integer", "format": "int64"}
	case types.Int32:
		return Schema{"type": "integer", "format": "int32"}
	case types.Int8:
		return Schema{"type": "integer", "minimum": math.MinInt8, "maximum": math.MaxInt8}
	case types.Int16:
		return Schema{"type": "integer", "minimum": math.MinInt16, "maximum": math.MaxInt16}
	case types.Uint8:
		return Schema{"type": "integer", "minimum": 0, "maximum": math.MaxUint8}
	case types.Uint16:
		return Schema{"type": "integer", "minimum": 0, "maximum": math.MaxUint16}
	case types.Uint32:
		return Schema{"type": "integer", "format": "int64", "minimum": 0, "maximum": math.MaxUint32}
	case types.Uint, types.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	}
	b.report(at, fmt.Sprintf("%s has no schema", t), "use another type")
	return Schema{}
}

// structure returns the schema of a struct whose exported fields have names in JSON.
func (b *builder) structure(t *types.Struct, at place) Schema {
	properties, required := Schema{}, []string{}
	var u union
	for i := range t.NumFields() {
		field, tag := t.Field(i), parseTag(t.Tag(i))
		if !field.Exported() || tag.name == "" {
			continue
		}
		s := b.field(field, place{field, at.path + "." + tag.name})
		properties[tag.name] = s
		if tag.alias != "" {
			properties[tag.alias] = s
		}
		if tag.required && tag.alias == "" {
			required = append(required, tag.name)
		}
		if tag.discriminator {
			u.name, u.words = tag.name, s["enum"]
		}
		u.fields = append(u.fields, unionField{tag.name, b.needed(field.Type())})
	}
	s := Schema{"type": "object"}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	if conditions := u.conditions(); conditions != nil {
		s["allOf"] = conditions
	}
	return s
}

// field returns the schema of a field: the schema of its type, with the directive of the
// field and a description.
func (b *builder) field(field *types.Var, at place) Schema {
	t := field.Type()
	if named, err := b.source.Type(field); err != nil {
		b.report(at, err.Error(), "name a type of the package, or a list of one, after "+load.TypeDirective)
	} else if named != nil {
		t = named
	}
	s := b.value(t, at)
	s = with(maps.Clone(s), b.given(field, at))
	if doc := cmp.Or(b.source.Doc(field), b.typeDoc(t)); doc != "" {
		s["description"] = describe(doc)
	}
	return s
}

// typeDoc returns the doc comment of a named type of the source, or "".
func (b *builder) typeDoc(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return b.typeDoc(t.Elem())
	case *types.Named:
		return b.source.Doc(t.Obj())
	}
	return ""
}

var (
	docLink   = regexp.MustCompile(`\[([A-Za-z][A-Za-z0-9_.]*)\]`)
	nilWord   = regexp.MustCompile(`\bnil\b`)
	firstPart = regexp.MustCompile(`(?s)\n\n.*`)
)

// describe returns the first paragraph of a doc comment in one line, for readers of YAML:
// what is nil in Go is absent there.
func describe(doc string) string {
	doc = firstPart.ReplaceAllString(doc, "")
	doc = docLink.ReplaceAllString(doc, "$1")
	doc = nilWord.ReplaceAllString(doc, "absent")
	return strings.Join(strings.Fields(doc), " ")
}

// hasMethod reports whether a type or a pointer to it has a method of that name.
func hasMethod(t *types.Named, name string) bool {
	return types.NewMethodSet(types.NewPointer(t)).Lookup(t.Obj().Pkg(), name) != nil
}
