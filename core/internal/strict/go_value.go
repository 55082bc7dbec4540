package strict

import (
	"encoding"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks a value that was made in Go like [Decode] checks a value of a
// file, with the same messages: required fields, words, unions, texts, numbers
// and the Validate methods of all parts. Value must be a non-nil pointer; it is
// not changed. A nil pointer, slice or map is an absent field, and so is a zero
// value in a field with omitzero.
//
// The errors go to the place's sink; Validate reports whether there are none.
func Validate(at *diag.At, value any) bool {
	before := at.Sink().Mark()
	to := reflect.ValueOf(value)
	validateGo(at, to.Elem(), to, planOf(to.Type().Elem()))
	return at.Sink().Mark() == before
}

// validateGo checks the parts of a value, and then the value itself, which must
// be addressable. to is the pointer to it, or zero: then it is made where it is needed,
// which takes as long as a check.
func validateGo(at *diag.At, v, to reflect.Value, p *plan) {
	own := func() any {
		if !to.IsValid() {
			to = v.Addr()
		}
		return to.Interface()
	}
	before := at.Sink().Mark()
	switch p.form {
	case pointer:
		if v.IsNil() {
			at.Errorf(diag.WrongType, "leave the field out instead", "must not be null")
		} else {
			validateGo(at, v.Elem(), v, p.elem)
		}
		return
	case itself:
		validateScalar(at, own().(Scalar))
	case fromText:
		if err := checkText(own()); err != nil {
			reportText(at, err)
		}
	case structure:
		validateFields(at, v, p.fields)
	case list:
		for i := range v.Len() {
			validateGo(at.Index(i), v.Index(i), reflect.Value{}, p.elem)
		}
	case mapping, stringMapping:
		validateEntries(at, v, p)
	case text:
		if !utf8.ValidString(v.String()) {
			at.Errorf(diag.WrongType, "", "must be UTF-8, not %q", v.String())
		} else if p.isEnum && !slices.Contains(p.wordsInGo, v.String()) {
			checkWord(func() *diag.At { return at }, v.String(), p.words)
		}
	case decimal:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			at.Errorf(diag.WrongType, "", "must be a finite number, not the number %v", f)
		}
	}
	if p.validates && (p.hasParts() || at.Sink().Mark() == before) {
		validate(at, own(), before)
	}
}

func validateFields(at *diag.At, v reflect.Value, known *fields) {
	var room [16]bool
	seen := append(room[:0], make([]bool, len(known.list))...)
	for n := range known.list {
		f := &known.list[n]
		field := v.Field(f.index)
		if seen[n] = f.isPresent(field); seen[n] {
			validateGo(at.Field(f.name), field, reflect.Value{}, f.plan)
		} else if f.required {
			at.Field(f.name).Errorf(diag.MissingField, "", "required field is missing")
		}
	}
	if known.discriminator >= 0 {
		checkUnion(func() *diag.At { return at }, v, known, seen)
	}
}

// isPresent reports whether a file with the value would have the field.
func (f *field) isPresent(v reflect.Value) bool {
	if !f.required {
		return !v.IsZero()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return !v.IsNil()
	}
	return true
}

func validateEntries(at *diag.At, v reflect.Value, p *plan) {
	keys := map[string]reflect.Value{}
	for _, key := range v.MapKeys() {
		keys[key.String()] = key
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		entry := reflect.New(p.elem.t).Elem()
		entry.Set(v.MapIndex(keys[name]))
		validateGo(at.Field(name), entry, reflect.Value{}, p.elem)
	}
}

// checkText checks a value that has a text, given a pointer to it: by its CheckText
// method or, if it has none, by unmarshaling the text to which it marshals.
func checkText(value any) error {
	switch value := value.(type) {
	case TextChecker:
		return value.CheckText()
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		if err != nil {
			return err
		}
		return reflect.New(reflect.TypeOf(value).Elem()).Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
	}
	return nil
}

// validateScalar checks a value that decodes itself by decoding its JSON.
func validateScalar(at *diag.At, value Scalar) {
	text, err := json.Marshal(value)
	if err != nil {
		at.Errorf(diag.BadValue, "", "has no JSON form: %s", err)
		return
	}
	reader := newReader()
	itself := source{reader: reader, file: at.Pos().String(), piece: Chunk{data: text}, sink: at.Sink()}
	done, bad := itself.json(func(doc *Document) bool {
		copied := reflect.New(reflect.TypeOf(value).Elem()).Interface().(Scalar)
		copied.DecodeAt(doc.value(*at, 0))
		return true
	})
	if !done {
		at.Errorf(bad.code, bad.hint, "%s", bad.what)
	}
}
