package diff

import (
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// twoSides is a part of a dataplane in both views; the zero T: there is none.
type twoSides[T comparable] struct{ before, after T }

// pairedInbound is a part of an inbound in both views.
type pairedInbound[T comparable] struct {
	kind  *resource.Kind
	place inspect.Place
	twoSides[T]
}

// pairInbounds returns, kind by kind, the inbounds that have a part in either view. Inbounds of
// two views are the same if they have the same name.
func pairInbounds[T comparable](d *differ, p pair, before, after []*results.Config, part func(*results.InboundConfig) T) []pairedInbound[T] {
	var inbounds []pairedInbound[T]
	var none T
	at := map[string]int{}
	collect := func(s side, configs []*results.Config, d *resource.Dataplane, set func(*twoSides[T], T)) {
		for _, config := range configs {
			for place, c := range s.points(config, d) {
				found := part(c)
				if found == none {
					continue
				}
				key := config.Kind.Name + " " + place.String()
				n, known := at[key]
				if !known {
					n = len(inbounds)
					at[key], inbounds = n, append(inbounds, pairedInbound[T]{kind: config.Kind, place: place})
				}
				set(&inbounds[n].twoSides, found)
			}
		}
	}
	collect(d.before, before, p.before, func(both *twoSides[T], found T) { both.before = found })
	collect(d.after, after, p.after, func(both *twoSides[T], found T) { both.after = found })
	return inbounds
}
