package xds

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/results"
)

// setters finds the items that set a field of a conf. A patch may have thousands of
// modifications with a warning each, so what answers the questions about one conf is kept.
type setters struct {
	conf *results.Effective
	// within has the items that set a field, or a part of it, by the field; and leaves those
	// that set exactly a field without parts.
	within, leaves map[string][]results.Origin
}

// settersOf returns the items that set a field of a conf, a part of it, or what contains it. An item may
// be there more than once.
func (s *setters) settersOf(e *results.Effective, field string) []results.Origin {
	if s.conf != e {
		*s = setters{e, map[string][]results.Origin{}, map[string][]results.Origin{}}
		for pointer, o := range e.Fields() {
			s.leaves[pointer] = append(s.leaves[pointer], o)
			for at := pointer; at != ""; at = parentOf(at) {
				if list := s.within[at]; !slices.Contains(list, o) {
					s.within[at] = append(list, o)
				}
			}
		}
	}
	list := slices.Clip(s.within[field])
	for at := parentOf(field); at != ""; at = parentOf(at) {
		list = append(list, s.leaves[at]...)
	}
	return list
}

// parentOf returns the JSON pointer of what contains a field; "" for the whole conf.
func parentOf(pointer string) string { return pointer[:max(strings.LastIndexByte(pointer, '/'), 0)] }
