package resource

import (
	"bytes"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// written returns a decoded document as JSON. Its fields keep their order; the fields of
// nested values are sorted.
func written(in *strict.Value) []byte {
	sink := in.At().Sink()
	before := sink.Mark()
	defer sink.Cut(before) // errors were reported when the document was decoded
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range in.Names() {
		if i > 0 {
			b.WriteByte(',')
		}
		var value any
		strict.Decode(in.Field(name), &value)
		b.Write(marshalled(name))
		b.WriteByte(':')
		b.Write(marshalled(value))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// marshalled prints a value of a document. All such values have a JSON form.
func marshalled(v any) []byte {
	text, err := conf.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
