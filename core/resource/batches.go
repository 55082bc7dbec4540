package resource

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/strict"
)

// batchSize is the number of values that are decoded by one worker, one after the
// other. Decoding a value takes some 20 µs, starting a worker one.
const batchSize = 128

// each calls decode for each of some values of documents. Many values are decoded in
// batches by as many workers as are free; each batch is a part of its own.
func (d *decoder) each(values []*strict.Value, decode func(*decoder, *strict.Value)) {
	if len(values) <= batchSize {
		for _, value := range values {
			decode(d, value)
		}
		return
	}
	first := d.part
	for batch := range slices.Chunk(values, batchSize) {
		p := &part{}
		first.after = append(first.after, p)
		if d.load.group.TryGo(d.load.work(p, func(d *decoder) { d.batch(batch, decode) })) {
			continue
		}
		d.part = p
		for _, value := range batch {
			decode(d, value)
		}
	}
	d.part = &part{} // for what follows the values
	first.after = append(first.after, d.part)
}

// batch decodes values of documents that another worker has read.
func (d *decoder) batch(values []*strict.Value, decode func(*decoder, *strict.Value)) {
	var of, copied *strict.Document
	for _, value := range values {
		if doc := value.Document(); doc != of {
			of, copied = doc, doc.Copy(&d.reader, &d.part.sink)
		}
		decode(d, value.In(copied))
	}
}

// stream decodes the documents of an input that could not be cut, such as JSON in one
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
		if read = append(read, doc.Root()); len(read) == 8*batchSize {
			decode()
		}
	}
	decode()
}
