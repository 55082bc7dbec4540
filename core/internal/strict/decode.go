package strict

import (
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Enum is implemented by string types with a fixed set of words.
type Enum interface {
	Enum() []string
}

// EnumInGo is implemented by an [Enum] with words that no document has. A value with one of
// them is valid.
type EnumInGo interface {
	EnumInGo() []string
}

// Scalar is implemented by types that decode themselves from a scalar or any
// other value. DecodeAt reports errors at the place of the value.
type Scalar interface {
	DecodeAt(in *Value)
}

// TextChecker is implemented by types with an UnmarshalText method that can check a
// value without its text. This is several times faster for a value that was made in
// Go.
type TextChecker interface {
	// CheckText returns the error that UnmarshalText returns for the text of the value.
	CheckText() error
}

// Entries is implemented by types that are decoded from a mapping of strings.
type Entries interface {
	// SetEntries receives the entries that could be read, sorted by name. The
	// slice is reused afterwards.
	SetEntries(entries []Entry)
}

// Entry is a field of a mapping of strings.
type Entry struct{ Name, Value string }

// Decode fills target, a non-nil pointer, from a value and reports whether
// there is no error; all errors go to the document's sink. A field of type
// *[Value] receives its value undecoded. A field of type any receives
// map[string]any, []any, string, bool, int64 if negative, uint64, float64 (also
// for -0) or nil for null.
//
// Lists of target, which must be empty, may have capacity: it is used.
//
// After an error, target contains the parts that could be read. Pointers to
// numbers, texts and lists with errors are nil; a word that its [Enum] does not
// have is kept.
func Decode(in *Value, target any) bool { return DecodeExcept(in, target) }

// DecodeExcept is [Decode] for a struct, without the named fields of the input.
// The caller decodes these.
func DecodeExcept(in *Value, target any, except ...string) bool {
	v := reflect.ValueOf(target).Elem()
	d := newDecoder(in)
	defer d.release()
	d.except = except
	return d.value(v, planOf(v.Type()))
}

// DecodePart is [Decode] for a struct, without the fields of the input that the
// struct does not declare.
func DecodePart(in *Value, target any) bool {
	v := reflect.ValueOf(target).Elem()
	d := newDecoder(in)
	defer d.release()
	d.partly = true
	return d.value(v, planOf(v.Type()))
}

// DecodeChecked is [Decode] with an additional check, for conditions that
// depend on more than the value. The check is called like a [Validator].
func DecodeChecked(in *Value, target any, check func()) {
	before := in.doc.sink.Mark()
	Decode(in, target)
	in.doc.sink.Check(before, check)
}

// Skim checks a value that is not decoded for errors that do not depend on its
// type: nulls, tags, duplicate fields and names that are not strings.
func Skim(in *Value) {
	d := newDecoder(in)
	defer d.release()
	d.skim()
}

// decoder decodes one value from its beginning to its end.
type decoder struct {
	in     cursor
	doc    *Document
	sink   *diag.Sink
	except []string // fields of the outermost value that are skipped
	partly bool     // all fields that the struct does not declare are skipped

	outer *diag.At // the place of the outermost value
	// path contains the steps from outer to the current value, and places the place after
	// each of them; nil: it was not needed yet.
	path   []diag.Step
	places []*diag.At
	// moving is the place of the current value, for validators. It reads path by steps, which is
	// appendSteps, made once.
	moving diag.At
	steps  func([]diag.Step) []diag.Step
	// names are the names of the fields read so far, of the enclosing mappings
	// of the next value.
	names   []string
	entries []Entry
	scratch []byte // a text for UnmarshalText
}

// newDecoder returns a decoder of a value. The caller must release it after
// use.
func newDecoder(in *Value) *decoder {
	var d *decoder
	r := in.doc.reader
	if n := len(r.decoders); n > 0 {
		d, r.decoders = r.decoders[n-1], r.decoders[:n-1]
	} else {
		d = &decoder{}
		d.steps = d.appendSteps
	}
	d.doc, d.sink, d.outer = in.doc, in.at.Sink(), &in.at
	d.moving = *d.outer.Moving(d.steps)
	d.in = cursor{text: &in.doc.text, strings: r.strings, next: in.part, ends: d.in.ends[:0]}
	return d
}

// release makes the decoder available for other values.
func (d *decoder) release() {
	reader := d.doc.reader
	*d = decoder{
		steps: d.steps, path: d.path[:0], places: d.places[:0], names: d.names[:0], entries: d.entries[:0], scratch: d.scratch[:0],
		in: cursor{ends: d.in.ends},
	}
	reader.decoders = append(reader.decoders, d)
}

func (d *decoder) enterField(name string) {
	d.step(diag.Step{Field: name, Index: diag.IsField})
}

func (d *decoder) step(to diag.Step) {
	d.path = append(d.path, to)
	d.places = append(d.places, nil)
}

func (d *decoder) leave() {
	d.path = d.path[:len(d.path)-1]
	d.places = d.places[:len(d.places)-1]
}

// place returns the place of the current value.
func (d *decoder) place() *diag.At { return d.placeAfter(len(d.path)) }

// placeAfter returns the place after a number of steps.
func (d *decoder) placeAfter(steps int) *diag.At {
	at := d.outer
	for i := range steps {
		if d.places[i] == nil {
			d.places[i] = stepFrom(at, d.path[i])
		}
		at = d.places[i]
	}
	return at
}

func stepFrom(at *diag.At, step diag.Step) *diag.At {
	if step.Index == diag.IsField {
		return at.Field(step.Field)
	}
	return at.Index(step.Index)
}

// appendSteps appends the path of the current value, for the place for validators.
func (d *decoder) appendSteps(to []diag.Step) []diag.Step { return append(to, d.path...) }

// value decodes the next value into v and reports whether there is no error.
func (d *decoder) value(v reflect.Value, p *plan) bool {
	if p.form == deferred {
		v.Set(reflect.ValueOf(d.capture()))
		return true
	}
	if !d.meaningful() {
		d.in.skip()
		return false
	}
	if p.form == pointer {
		v.Set(reflect.New(p.elem.t))
		ok := d.value(v.Elem(), p.elem)
		if !ok && !p.elem.keepsErrors() {
			v.SetZero()
		}
		return ok
	}
	before := d.sink.Mark()
	switch p.form {
	case itself:
		v.Addr().Interface().(Scalar).DecodeAt(d.capture())
	case structure:
		d.structure(v, p.fields)
		if p.defaults {
			v.Addr().Interface().(Defaulter).SetDefaults()
		}
	case list:
		d.list(v, p)
	case mapping:
		d.mapping(v, p)
	case stringMapping:
		d.stringMapping(v)
	case entries:
		d.entryList(v)
	case anything:
		if tree := d.tree(); tree != nil {
			v.Set(reflect.ValueOf(tree))
		}
	default:
		d.scalar(v, p)
	}
	if p.validates && (p.hasParts() || d.sink.Mark() == before) {
		validate(&d.moving, v.Addr().Interface(), before)
	}
	return d.sink.Mark() == before
}

// capture returns the next value undecoded.
func (d *decoder) capture() *Value {
	at := *d.outer
	if last := len(d.path) - 1; last >= 0 {
		at = *stepFrom(d.placeAfter(last), d.path[last])
	}
	v := d.doc.value(at, d.in.next)
	d.in.skip()
	return v
}

// meaningful refuses nulls and every value that [decoder.fitsTag] refuses.
func (d *decoder) meaningful() bool {
	if !d.fitsTag() {
		return false
	}
	if d.in.kind() != Null {
		return true
	}
	hint := "leave the field out instead"
	if at := d.place(); at.IsRoot() {
		hint = "leave the document out instead"
	}
	d.place().Errorf(diag.WrongType, hint, "must not be null")
	return false
}

// fitsTag refuses tags other than the tags of the plain types, and values that do not
// have the type of their tag.
func (d *decoder) fitsTag() bool {
	flaw := d.in.tagFlaw()
	if flaw != nil {
		d.place().Errorf(flaw.code, flaw.hint, "%s", flaw.what)
	}
	return flaw == nil
}

// enter begins a mapping or list. For other values it reports an error.
func (d *decoder) enter(kind Kind, want string) bool {
	if d.in.kind() != kind {
		d.wrongType(want)
		return false
	}
	d.in.enter()
	return true
}

func (d *decoder) list(v reflect.Value, p *plan) {
	if !d.enter(List, "a list") {
		return
	}
	if n := d.in.size(); n > 0 {
		used := v.Cap() > 0 // by an earlier value
		v.Grow(n)
		v.SetLen(n)
		if used {
			v.Clear()
		}
	} else if v.IsNil() {
		v.Set(reflect.MakeSlice(p.t, 0, 0))
	}
	for i := range d.elements {
		d.value(v.Index(i), p.elem)
	}
}

// elements yields the indexes of the elements of the list that was entered. The
// element is then the next value.
func (d *decoder) elements(yield func(i int) bool) {
	for i := 0; d.in.more(); i++ {
		d.step(diag.Step{Index: i})
		if !yield(i) {
			return
		}
		d.leave()
	}
	d.in.leave()
}

// mapping keeps the entries that could be read.
func (d *decoder) mapping(v reflect.Value, p *plan) {
	if !d.enter(Mapping, "a mapping") {
		return
	}
	out := reflect.MakeMap(p.t)
	for name := range d.fields {
		elem := reflect.New(p.elem.t).Elem()
		if d.value(elem, p.elem) {
			out.SetMapIndex(reflect.ValueOf(name).Convert(p.t.Key()), elem)
		}
	}
	v.Set(out)
}

// stringMapping is mapping without reflection on the entries.
func (d *decoder) stringMapping(v reflect.Value) {
	if !d.enter(Mapping, "a mapping") {
		return
	}
	out := map[string]string{}
	for name := range d.fields {
		if value, ok := d.text(); ok {
			out[name] = value
		}
	}
	*v.Addr().Convert(reflect.TypeFor[*map[string]string]()).Interface().(*map[string]string) = out
}

// entryList decodes a mapping of strings for a type that implements [Entries].
func (d *decoder) entryList(v reflect.Value) {
	if !d.enter(Mapping, "a mapping") {
		return
	}
	begin := len(d.entries)
	for name := range d.fields {
		if value, ok := d.text(); ok {
			d.entries = append(d.entries, Entry{name, value})
		}
	}
	slices.SortFunc(d.entries[begin:], func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	v.Addr().Interface().(Entries).SetEntries(d.entries[begin:])
	d.entries = d.entries[:begin]
}

// text decodes a string.
func (d *decoder) text() (string, bool) {
	switch {
	case !d.meaningful():
		d.in.skip()
	case d.in.kind() != String:
		d.wrongType("a string")
	default:
		return d.in.scalar(), true
	}
	return "", false
}

func (d *decoder) skim() {
	if !d.meaningful() {
		d.in.skip()
		return
	}
	switch d.in.kind() {
	case Mapping:
		d.in.enter()
		for range d.fields {
			d.skim()
		}
	case List:
		d.in.enter()
		for range d.elements {
			d.skim()
		}
	default:
		d.in.skip()
	}
}
