package diag

// Prober finds out whether a validation reports errors at all, before their
// places are made: an engine may be given a million resources, most of them
// without errors. The zero Prober is ready to use, by one goroutine at a time.
type Prober struct {
	sink  Sink
	input input
	at    At
}

// Fails calls a validation and reports whether it reports an error. The place that
// the validation gets has no position and path, and is all places within it too, so
// that using it allocates nothing. Warnings are dropped.
func (p *Prober) Fails(validate func(*At)) bool {
	p.input.sink = &p.sink
	p.at = At{input: &p.input, probe: true}
	validate(&p.at)
	failed := p.sink.Failed()
	if failed || len(p.sink.warnings) > 0 {
		p.sink = Sink{}
	}
	return failed
}
