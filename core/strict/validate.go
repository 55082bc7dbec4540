package strict

import (
	"reflect"
	"slices"
	"strings"
)

// Validator is implemented by types that check what their shape alone can not
// say. Validate is called after the value was decoded, inner values first,
// also where a part of it was in error, so that one mistake does not hide
// another; see [Decode] for what such a value holds. What Validate reports at
// a place in error, at one within it or around it, is dropped: it would only
// say again that something is wrong there.
type Validator interface {
	Validate(at *At)
}

// DecodeChecked is [Decode] with a check that needs to know more than a
// [Validator] can; it is called like one.
func DecodeChecked(at *At, target any, check func()) {
	before := at.doc.sink.mark()
	Decode(at, target)
	at.doc.sink.check(before, check)
}

// validate lets a value check itself. The errors since before are those of
// its parts.
func validate(at *At, v reflect.Value, before int) {
	if checked, ok := v.Addr().Interface().(Validator); ok {
		at.doc.sink.check(before, func() { checked.Validate(at) })
	}
}

// check calls a check and drops those of its errors that are at the place of
// one since before, within or around it.
func (s *Sink) check(before int, check func()) {
	own := s.mark()
	check()
	if own == before || s.mark() == own {
		return
	}
	known := newPlaces(s.errors[before:own])
	kept := slices.DeleteFunc(s.errors[own:], known.touches)
	s.errors = s.errors[:own+len(kept)]
}

// places is the paths of some errors.
type places struct {
	at     map[string]bool
	around map[string]bool // of everything that an error is within
}

func newPlaces(errors []Diagnostic) places {
	p := places{at: map[string]bool{}, around: map[string]bool{}}
	for _, e := range errors {
		p.at[e.Path] = true
		for outer := range outerPaths(e.Path) {
			if p.around[outer] {
				break // and those around it
			}
			p.around[outer] = true
		}
	}
	return p
}

// touches reports whether an error is at one of the places, within or around
// it.
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

// outerPaths yields the paths of what a place is within, the nearest first.
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
