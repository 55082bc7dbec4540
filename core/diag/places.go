package diag

import (
	"slices"
	"strings"
)

// Check calls check and drops some of the errors that it reports: those about a place that
// already has an error since the mark before. An error is dropped if its path equals, contains
// or is within the path of such an error. It would only repeat that something is wrong there.
func (s *Sink) Check(before int, check func()) {
	own := s.Mark()
	check()
	if own == before || s.Mark() == own {
		return
	}
	known := newPlaces(s.errors[before:own])
	kept := slices.DeleteFunc(s.errors[own:], known.touches)
	s.errors = s.errors[:own+len(kept)]
}

// places are the paths of errors.
type places struct {
	at     map[string]bool
	around map[string]bool // the paths of the values around errors
}

func newPlaces(errors []Diagnostic) places {
	p := places{at: map[string]bool{}, around: map[string]bool{}}
	for _, e := range errors {
		p.at[e.Path] = true
		for outer := range outerPaths(e.Path) {
			if p.around[outer] {
				break // so have the paths around it
			}
			p.around[outer] = true
		}
	}
	return p
}

// touches reports whether the path of an error is one of the paths, is within one,
// or contains one.
func (p places) touches(d Diagnostic) bool {
	if p.at[d.Path] || p.around[d.Path] {
		return true
	}
	for outer := range outerPaths(d.Path) {
		if p.at[outer] {
			return true
		}
	}
	return false
}

// outerPaths yields the paths of the enclosing values of a value, the nearest
// first.
func outerPaths(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for {
			i := max(0, strings.LastIndexAny(path, ".["))
			if path == "" || !yield(path[:i]) {
				return
			}
			path = path[:i]
		}
	}
}
