package resource

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// batchSize is the number of values that one worker decodes in sequence. Decoding
// a value takes about 20 µs, starting a worker about 1 µs.
const batchSize = 128

// each calls decode for each value. It splits many values into batches, which all
// free workers decode; each batch is a separate part.
func (d *decoder) each(values []*strict.Value, decode func(*decoder, *strict.Value)) {
	if len(values) <= batchSize {
		for _, value := range values {
			decode(d, value)
		}
		return
	}
	first := d.part
	for batch := range slices.Chunk(values, batchSize) {
		p := &part{inputFacts: first.inputFacts}
		first.after = append(first.after, p)
		if d.load.group.TryGo(d.load.sequence(d.load.work(p, func(d *decoder) { d.batch(batch, decode) }))) {
			continue
		}
		d.part = p
		for _, value := range batch {
			decode(d, value)
		}
	}
	d.part = &part{inputFacts: first.inputFacts} // for the documents after the values
	first.after = append(first.after, d.part)
}

// batch decodes documents that another worker has read.
func (d *decoder) batch(values []*strict.Value, decode func(*decoder, *strict.Value)) {
	var of, copied *strict.Document
	for _, value := range values {
		if doc := value.Document(); doc != of {
			of, copied = doc, doc.Copy(&d.reader, &d.part.sink)
		}
		decode(d, value.In(copied))
	}
}

// stream decodes the documents of an input that cannot be split, such as JSON in one
// line.
func (d *decoder) stream(documents iter.Seq[*strict.Document]) {
	var read []*strict.Value
	decode := func() {
		d.each(read, (*decoder).document)
		read = nil
	}
	for doc := range documents {
		if d.load.ctx.Err() != nil {
			return
		}
		d.load.releaseLater(doc)
		if read = append(read, doc.Root()); len(read) == 8*batchSize {
			decode()
		}
	}
	decode()
}
