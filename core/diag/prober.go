package diag

// Prober determines whether a validation reports any error, without making the
// places: an engine may get a million resources, most of them without errors. The
// zero Prober is ready to use. Only one goroutine may use it at a time.
type Prober struct {
	// In are the ways in which documents are read: findings of other ways are no errors. 0: all
	// ways, and even a warning that depends on the way makes a validation fail.
	In    Reading
	sink  Sink
	input input
	at    At
}

// Fails calls a validation and reports whether it reports an error. It passes a
// place without position and path. Every place within this place is the place
// itself, so using it allocates nothing. Warnings are dropped.
func (p *Prober) Fails(validate func(*At)) bool {
	p.input.sink, p.input.in = &p.sink, p.In
	p.at = At{input: &p.input, probe: true}
	validate(&p.at)
	failed := p.sink.Failed()
	if failed || len(p.sink.warnings) > 0 {
		p.sink = Sink{}
	}
	return failed
}
