package rbac

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// writer writes a protobuf message in one pass. A filter can name thousands of identities,
// and each takes ten nested messages: building them as Go structs and marshalling those
// took most of the time and memory.
//
// A message is written without its length, which is inserted in front of it at its end.
// That moves few bytes, except for the few messages that contain all others.
type writer struct {
	data []byte
	// full is set when the data are longer than MaxFilter. From then on nothing is
	// written, so that memory stays bounded, and loops may end early.
	full bool
}

// text writes a field that is a string or bytes.
func (w *writer) text(field protowire.Number, value string) {
	if w.grows() {
		w.data = protowire.AppendTag(w.data, field, protowire.BytesType)
		w.data = protowire.AppendString(w.data, value)
	}
}

// number writes a field that is an integer, an enum or a bool.
func (w *writer) number(field protowire.Number, value uint64) {
	if w.grows() {
		w.data = protowire.AppendTag(w.data, field, protowire.VarintType)
		w.data = protowire.AppendVarint(w.data, value)
	}
}

// raw writes fields that are already marshalled.
func (w *writer) raw(fields []byte) {
	if w.grows() {
		w.data = append(w.data, fields...)
	}
}

// message writes a field that is a message. Body writes the message's fields in the order
// of their numbers.
func (w *writer) message(field protowire.Number, body func()) {
	if !w.grows() {
		return
	}
	w.data = protowire.AppendTag(w.data, field, protowire.BytesType)
	begin := len(w.data)
	body()
	length := len(w.data) - begin
	size := protowire.SizeVarint(uint64(length))
	w.data = slices.Grow(w.data, size)[:len(w.data)+size]
	copy(w.data[begin+size:], w.data[begin:])
	protowire.AppendVarint(w.data[:begin], uint64(length))
}

func (w *writer) grows() bool {
	w.full = w.full || len(w.data) > MaxFilter
	return !w.full
}
