package strict

import (
	"encoding"
	"reflect"
	"strings"
	"sync"
)

// plan contains the properties of a Go type that decoding needs. It is made
// once for each type and then immutable.
type plan struct {
	t         reflect.Type
	form      form
	elem      *plan // of pointers, lists and mappings
	bits      int   // of numbers
	validates bool  // the type is a [Validator]
	defaults  bool  // the type is a [Defaulter]
	isEnum    bool
	words     []string // of an [Enum]
	wordsInGo []string // of an [EnumInGo]
	fields    *fields  // of structs
}

// form determines how values of a type are decoded.
type form uint8

const (
	unsupported form = iota
	deferred         // *Value
	pointer
	itself // a [Scalar]
	fromText
	structure
	list
	mapping
	stringMapping // mapping whose values are plain strings
	entries       // [Entries]
	text
	boolean
	integer
	natural
	decimal
	anything // any
)

// fields contains the properties of a struct type that decoding needs.
type fields struct {
	list          []field
	byName        map[string]int // from names and aliases to spellings
	spellings     []spelling
	names         []string // for hints
	discriminator int      // index in list; -1: the struct is not a union
}

type field struct {
	name     string
	index    int // in the struct
	required bool
	arm      bool // of a union
	plan     *plan
}

// spelling is a name or alias of a field.
type spelling struct {
	name  string
	field int // in the list
}

// plans maps each reflect.Type to its *plan. It is only a cache.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	building := planner{}
	p := building.plan(t)
	for t, made := range building {
		plans.LoadOrStore(t, made)
	}
	return p
}

// spellingOf returns the index of a spelling, or -1. Most structs have few spellings, and
// most of them differ in their length: comparing them one by one takes a third of the time
// of a map.
func spellingOf[T []byte | string](f *fields, name T) int {
	if len(f.spellings) > smallMapping {
		if i, found := f.byName[string(name)]; found {
			return i
		}
		return -1
	}
	for i := range f.spellings {
		if f.spellings[i].name == string(name) {
			return i
		}
	}
	return -1
}

// planner contains the plans that are being made, because types can be
// recursive.
type planner map[reflect.Type]*plan

func (b planner) plan(t reflect.Type) *plan {
	if p := b[t]; p != nil {
		return p
	}
	p := &plan{t: t, form: formOf(t)}
	b[t] = p
	to := reflect.PointerTo(t)
	p.validates = to.Implements(reflect.TypeFor[Validator]())
	p.defaults = to.Implements(reflect.TypeFor[Defaulter]())
	if e, ok := reflect.Zero(t).Interface().(Enum); ok && t.Kind() == reflect.String {
		p.isEnum, p.words = true, e.Enum()
		if more, ok := e.(EnumInGo); ok {
			p.wordsInGo = more.EnumInGo()
		}
	}
	switch p.form {
	case integer, natural, decimal:
		p.bits = t.Bits()
	case pointer, list, mapping, stringMapping:
		p.elem = b.plan(t.Elem())
	case structure:
		p.fields = b.fields(t)
	}
	return p
}

func formOf(t reflect.Type) form {
	to := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[*Value]():
		return deferred
	case t.Kind() == reflect.Pointer:
		return pointer
	case to.Implements(reflect.TypeFor[Scalar]()):
		return itself
	case to.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return fromText
	}
	if to.Implements(reflect.TypeFor[Entries]()) {
		return entries
	}
	switch t.Kind() {
	case reflect.Struct:
		return structure
	case reflect.Slice:
		return list
	case reflect.Map:
		if t.ConvertibleTo(reflect.TypeFor[map[string]string]()) {
			return stringMapping
		}
		return mapping
	case reflect.String:
		return text
	case reflect.Bool:
		return boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integer
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return natural
	case reflect.Float32, reflect.Float64:
		return decimal
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return anything
		}
	}
	return unsupported
}

func (b planner) fields(t reflect.Type) *fields {
	f := &fields{byName: map[string]int{}, discriminator: -1}
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, tagged := strings.Cut(sf.Tag.Get("json"), ",")
		if !sf.IsExported() || name == "-" || name == "" {
			continue
		}
		if sf.Tag.Get("policyMerge") == "discriminator" {
			f.discriminator = len(f.list)
		}
		f.spell(name)
		if alias := sf.Tag.Get("alias"); alias != "" {
			f.spell(alias)
		}
		f.names = append(f.names, name)
		f.list = append(f.list, field{
			name: name, index: i, plan: b.plan(sf.Type),
			required: !tagged || !strings.Contains(options, "omitzero"),
		})
	}
	if f.discriminator >= 0 {
		// An arm has the name of one of the types; other fields belong to every
		// type.
		for _, word := range f.list[f.discriminator].plan.words {
			for i := range f.list {
				f.list[i].arm = f.list[i].arm || strings.EqualFold(f.list[i].name, word)
			}
		}
	}
	return f
}

// spell adds a spelling of the field that is added next.
func (f *fields) spell(name string) {
	f.byName[name] = len(f.spellings)
	f.spellings = append(f.spellings, spelling{name, len(f.list)})
}

// hasParts reports whether values of the type are validated even if a part of
// them has errors.
func (p *plan) hasParts() bool {
	return p.form == structure || p.form == list || p.form == mapping || p.form == stringMapping || p.form == entries
}

// keepsErrors reports whether the enclosing struct keeps a pointer to a value
// with errors. Other pointers become nil, so that validators do not read an
// incomplete value.
func (p *plan) keepsErrors() bool { return p.isEnum || p.t.Kind() == reflect.Struct }

// hasRequired reports whether the arm of a union must be present: it is not a
// pointer to a struct, or the struct has a required field.
func (p *plan) hasRequired() bool {
	if p.form != pointer || p.elem.form != structure {
		return true
	}
	for i := range p.elem.fields.list {
		if p.elem.fields.list[i].required {
			return true
		}
	}
	return false
}
