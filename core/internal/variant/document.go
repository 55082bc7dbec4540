package variant

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/resource"
)

// VariantsDocument is a document of type ResourceVariants: the variants of the resource
// with the name of the document. A set that SPEC 9.3 does not accept is an error of the
// document, with the position of a variant.
type VariantsDocument struct {
	Variants []Fragment `json:"variants"`
}

// FragmentsDocument is a document of type ResourceFragments: the fragments of the
// resource with the name of the document. Later fragments override earlier ones
// (SPEC 9.4).
type FragmentsDocument struct {
	Fragments []Fragment `json:"fragments"`
}

// A Fragment is a variant or a fragment of a resource: a content for the parameters that the
// constraints accept. Without constraints it is for all parameters.
type Fragment struct {
	Constraints Constraint `json:"constraints,omitzero"`
	Content     Content    `json:"content,omitzero"`
}

func constraintsOf(parts []Fragment) []Constraint {
	constraints := make([]Constraint, len(parts))
	for i := range parts {
		constraints[i] = parts[i].Constraints
	}
	return constraints
}

// Documents returns the types of documents of this package, for a
// [resource.Loader].
func Documents() []resource.DocumentType {
	return []resource.DocumentType{
		resource.DocumentOf[VariantsDocument]("", "ResourceVariants"),
		resource.DocumentOf[FragmentsDocument]("", "ResourceFragments"),
	}
}

// Set returns the accepted set of the variants, by their index.
func (d *VariantsDocument) Set() (*ConstraintSet, error) {
	return NewSet(constraintsOf(d.Variants))
}

// Validate checks the set (SPEC 9.3).
func (d *VariantsDocument) Validate(at *diag.At) {
	if slices.ContainsFunc(d.Variants, func(p Fragment) bool { return p.Constraints.invalid }) {
		return
	}
	set, err := d.Set()
	if err == nil {
		for _, w := range set.Warnings() {
			w.locate(at).Warnf(w.Code, w.Hint, "%s", w.Message)
		}
		return
	}
	var keys *KeysError
	var ambiguity *AmbiguityError
	variants := at.Field("variants")
	if errors.As(err, &keys) {
		variants.Index(keys.Variant).Errorf(diag.BadConstraint, keys.hint(), "%s", keys.what())
	}
	if errors.As(err, &ambiguity) {
		variants.Index(ambiguity.Second).Errorf(diag.AmbiguousVariants, ambiguity.hint(), "%s", ambiguity.what())
	}
	if keys == nil && ambiguity == nil {
		variants.Errorf(diag.BadConstraint, "", "%s", err)
	}
}

// Compile compiles the fragments; see [Compile].
func (d *FragmentsDocument) Compile() (*ConstraintSet, []map[string]any, error) {
	return Compile(d.Fragments)
}

// Warnings returns likely mistakes: fragments that accept no parameters.
func (d *FragmentsDocument) Warnings() []Warning {
	var warnings []Warning
	for i, f := range d.Fragments {
		if never, err := SameVariant(f.Constraints, Constraint{predicate: partition.False()}); err == nil && never {
			warnings = append(warnings, Warning{"fragments", i, diag.UnsatisfiableConstraint, "the constraints accept no parameters, so no client has the fragment", "remove it"})
		}
	}
	return warnings
}

// Validate reports the result of [FragmentsDocument.Warnings].
func (d *FragmentsDocument) Validate(at *diag.At) {
	for _, w := range d.Warnings() {
		w.locate(at).Warnf(w.Code, w.Hint, "%s", w.Message)
	}
}

// Content is the content of a variant or fragment: a mapping of any shape
// without nulls, as encoding/json decodes it.
type Content map[string]any

// MarshalJSON returns the mapping, or {} for nil.
func (c Content) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any(c))
}

// DecodeAt reads a content from a document.
func (c *Content) DecodeAt(in *strict.Value) {
	if in.Kind() != strict.Mapping {
		in.At().Errorf(diag.WrongType, "", "content must be a mapping")
		return
	}
	var tree any
	strict.Skim(in) // reports nulls
	strict.Decode(in, &tree)
	*c = tree.(map[string]any)
}
