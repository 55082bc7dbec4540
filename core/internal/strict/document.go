package strict

import "github.com/meshmatch/meshmatch/core/diag"

// Document is one parsed document of a file, within the limits. Only one
// goroutine may use it at a time.
type Document struct {
	sink   *diag.Sink
	reader *Reader
	place  diag.At // of the root
	text   flatText
	others []int32 // parts of the text that may mean something else in YAML 1.1
	// values has room for values. Most documents are decoded by way of some ten values,
	// which then take one allocation, or none after Release.
	values []Value
	// Unknown determines what an unknown field is. SnakeCase accepts the names of fields in
	// snake_case too, as JSON of protocol buffers does. NullIsAbsent reads a field of a
	// mapping that is null as absent, as an API server does. All are for the values that are
	// decoded next.
	Unknown      Unknown
	SnakeCase    bool
	NullIsAbsent bool
}

// minRoom is the smallest room for values.
const minRoom = 8

// document returns a document without content.
func (r *Reader) document(sink *diag.Sink) *Document {
	last := len(r.released) - 1
	if last < 0 {
		d := &Document{sink: sink, reader: r}
		d.place = *diag.Root(d, sink)
		return d
	}
	d := r.released[last]
	r.released = r.released[:last]
	if d.sink != sink {
		d.sink, d.place = sink, *diag.Root(d, sink)
	}
	return d
}

// setText makes a text the content of the document. It returns a slice for the parts of
// another document.
func (d *Document) setText(file string, data []byte, lines *lines, parts []part) (room []part) {
	d.text = flatText{content: content{file: file, data: data, lines: lines, parts: d.text.parts[:0]}}
	if len(parts) < minTaken {
		d.text.parts = append(d.text.parts, parts...)
		return parts
	}
	room, d.text.parts = d.text.parts, parts
	return room
}

// minTaken is the number of parts from which a document takes them without a copy.
const minTaken = 1 << 12

// Release makes the memory of the document available for another document: of its reader, or
// of any reader if the document [Document.IsLarge]. Afterwards, neither the document nor its
// values and copies may be used. A document that is not released is left to the garbage
// collector.
func (d *Document) Release() {
	parts := d.text.parts
	if d.IsLarge() {
		keepRoom(parts)
		parts = nil
	}
	d.text, d.others = flatText{content: content{parts: parts}}, d.others[:0]
	clear(d.values)
	d.values = d.values[:0]
	d.reader.released = append(d.reader.released, d)
}

// IsLarge reports whether the memory of the document is worth keeping for other loads: it
// has at least minTaken and at most maxRoom parts.
func (d *Document) IsLarge() bool {
	n := len(d.text.parts)
	return minTaken <= n && n <= maxRoom
}

// value returns the value of a part at a place.
func (d *Document) value(at diag.At, part int) *Value {
	if len(d.values) == cap(d.values) {
		d.values = make([]Value, 0, max(minRoom, min(2*len(d.values), 8*minRoom)))
	}
	d.values = append(d.values, Value{d, at, part})
	return &d.values[len(d.values)-1]
}

// Root returns the document's outermost value.
func (d *Document) Root() *Value { return d.value(d.place, 0) }

// Copy returns the same document for another reader, so that another goroutine can
// decode its values at the same time; see [Value.In]. Errors go to sink.
func (d *Document) Copy(reader *Reader, sink *diag.Sink) *Document {
	reader.init()
	copied := reader.document(sink)
	copied.text.content = d.text.content // without what another goroutine may be changing
	return copied
}

// Locate returns the position of a value by its path; see [diag.Source].
func (d *Document) Locate(path []diag.Step, name bool) diag.Position {
	at := 0
	for i, step := range path {
		next := -1
		if step.Index != diag.IsField {
			next = d.text.element(at, step.Index)
		} else if next = d.text.find(at, step.Field); next >= 0 && (!name || i < len(path)-1) {
			next++
		}
		if next < 0 {
			break
		}
		at = next
	}
	return d.text.position(at)
}
