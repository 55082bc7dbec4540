package diag

// Prober determines whether a validation reports any error, without making the
// places: an engine may be given a million resources, most of them without errors.
// The zero Prober is ready to use, by one goroutine at a time.
type Prober struct {
	sink  Sink
	input input
	at    At
}

// Fails calls a validation and reports whether it reports an error. The place that
// it passes has no position and no path, and is itself every place within it, so
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
