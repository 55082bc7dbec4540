package xds

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/results"
)

// setters finds the items that set a field of a conf. The fields of a conf are visited for each
// question, which is cheap for a few. A patch may have thousands of modifications with a warning
// each, so the answers to more questions about one conf are kept.
type setters struct {
	conf  *results.Effective
	asked int
	// within has the items that set a field, or a part of it, by the field; and leaves those
	// that set exactly a field without parts. Both are nil for the first questions.
	within, leaves map[string][]results.Origin
}

// fewQuestions is how many questions are answered by a visit of all fields.
const fewQuestions = 8

// of returns the items that set a field of a conf, a part of it, or what contains it. An item may
// be there more than once.
func (s *setters) of(e *results.Effective, field string) iter.Seq[results.Origin] {
	if s.conf != e {
		*s = setters{conf: e}
	}
	if s.asked++; s.asked > fewQuestions {
		return s.known(field)
	}
	return func(yield func(results.Origin) bool) {
		for pointer, o := range e.Fields() {
			if (pointer == field || strings.HasPrefix(pointer, field+"/") || strings.HasPrefix(field, pointer+"/")) && !yield(o) {
				return
			}
		}
	}
}

// known is of with the answers that are kept.
func (s *setters) known(field string) iter.Seq[results.Origin] {
	if s.within == nil {
		s.within, s.leaves = map[string][]results.Origin{}, map[string][]results.Origin{}
		for pointer, o := range s.conf.Fields() {
			s.leaves[pointer] = append(s.leaves[pointer], o)
			for at := pointer; at != ""; at = parentOf(at) {
				if list := s.within[at]; !slices.Contains(list, o) {
					s.within[at] = append(list, o)
				}
			}
		}
	}
	return func(yield func(results.Origin) bool) {
		for _, o := range s.within[field] {
			if !yield(o) {
				return
			}
		}
		for at := parentOf(field); at != ""; at = parentOf(at) {
			for _, o := range s.leaves[at] {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// parentOf returns the JSON pointer of what contains a field; "" for the whole conf.
func parentOf(pointer string) string { return pointer[:max(strings.LastIndexByte(pointer, '/'), 0)] }
