package server

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// selectFor returns the resources that a subscription by name selects, sorted by name.
// It returns the slice of the snapshot, or the previous one where that has the same
// resources. Names that exist become the strings of the snapshot, so that the
// request is not kept.
func selectFor(r *wire.Resources, s *subscription, before []*wire.Resource) []*wire.Resource {
	if s.all && (len(s.names) == 0 || len(r.Named) == 0) {
		return r.Listed
	}
	if len(s.names) == 0 {
		return nil
	}
	var buffer [64]*wire.Resource
	selected := buffer[:0]
	listed, named := r.Listed, r.Named
	for i, name := range s.names {
		if s.all {
			named = named[searchResource(named, name):]
		} else {
			listed, named = skipTo(listed, name), skipTo(named, name)
			if len(listed) > 0 && listed[0].Name == name {
				s.names[i] = listed[0].Name
				selected = append(selected, listed[0])
				continue
			}
		}
		if len(named) > 0 && named[0].Name == name {
			s.names[i] = named[0].Name
			selected = append(selected, named[0])
		}
	}
	if s.all {
		if len(selected) == 0 {
			return r.Listed
		}
		selected = append(selected, r.Listed...)
		sortResources(selected)
	}
	switch {
	case slices.Equal(selected, r.Listed):
		return r.Listed
	case slices.Equal(selected, before):
		return before
	}
	return slices.Clone(selected)
}

// searchResource returns the index of the first resource that is not before a name.
func searchResource(in []*wire.Resource, name string) int {
	at, _ := slices.BinarySearchFunc(in, name, func(r *wire.Resource, name string) int {
		return strings.Compare(r.Name, name)
	})
	return at
}

// skipTo returns the rest of a sorted slice from a name on. It first steps over a few
// resources, which is enough if most names are subscribed, and then searches.
func skipTo(in []*wire.Resource, name string) []*wire.Resource {
	for range 4 {
		if len(in) == 0 || in[0].Name >= name {
			return in
		}
		in = in[1:]
	}
	return in[searchResource(in, name):]
}

// find returns the resource of a name in a sorted slice, or nil.
func find(in []*wire.Resource, name string) *wire.Resource {
	if at := searchResource(in, name); at < len(in) && in[at].Name == name {
		return in[at]
	}
	return nil
}
