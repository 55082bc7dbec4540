package snapshot

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A NoEffect is a field of an item that the Envoy of a dataplane does not get.
type NoEffect struct {
	Policy *resource.Policy
	Index  int    // of the item
	Field  string // JSON pointer into the conf; "" for the whole conf
	Reason string
	// Inbound is the index of the inbound. The listeners of a zone proxy follow the
	// inbounds. Outbound is the index of the outbound: first the outbounds to tags in their
	// order, then those of [core.View.DestinationOutbounds]. One of them is set, the other
	// is Anywhere. Both are Anywhere for a field of the whole proxy.
	Inbound, Outbound int
	// OfKuma reports that a proxy of Kuma gets the field: by the mtls of its Mesh the inbound
	// has TLS there (SPEC 17.1).
	OfKuma bool
}

// Anywhere is the index of no inbound or outbound.
const Anywhere = -1

// NoEffect returns the fields of the confs of a dataplane that its Envoy does not get, with
// the reasons (SPEC 10).
func (s *State) NoEffect(d *resource.Dataplane) []NoEffect {
	snapshot := s.Snapshot(d, xds.Envoy)
	warnings := slices.Concat(snapshot.warnings, snapshot.silent)
	for _, part := range slices.Concat(snapshot.own, snapshot.shared.parts) {
		for _, w := range part.warnings {
			if w.Silent {
				warnings = append(warnings, w)
			}
		}
	}
	inbounds, outbounds := map[string]int{}, s.outboundPlaces(d, snapshot)
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		inbounds[inboundName(inboundAddress(d, in), in.Port)] = i
	}
	for i := range d.Listeners {
		inbounds[zoneListenerName(&d.Listeners[i])] = len(d.Inbounds) + i
	}
	var list []NoEffect
	for _, w := range sortWarnings(warnings) {
		if w.Policy == nil || w.Advice || w.Weakens {
			continue
		}
		without := NoEffect{Policy: w.Policy, Index: w.Index, Field: w.Field, Reason: w.Message, Inbound: Anywhere, Outbound: Anywhere, OfKuma: w.ForLackOfTLS() && isClassic(s.view, d.Mesh)}
		if i, ok := inbounds[w.Place]; ok {
			without.Inbound = i
		}
		places := outbounds[w.Place]
		if len(places) == 0 {
			list = append(list, without)
		}
		for _, i := range places {
			without.Outbound = i
			list = append(list, without)
		}
	}
	return list
}

// outboundPlaces returns the indexes of the outbounds (see [NoEffect]) by the places of
// warnings about them: their listener and their destination.
func (s *State) outboundPlaces(d *resource.Dataplane, snapshot *Snapshot) map[string][]int {
	places, mesh := map[string][]int{}, s.meshes[d.Mesh]
	add := func(i int, address string, port uint32, destination *destination) {
		for _, place := range []string{outboundName(address, port), destination.name} {
			places[place] = append(places[place], i)
		}
	}
	n := 0
	for i := range d.Outbounds {
		if o := &d.Outbounds[i]; o.Backend == nil {
			add(n, cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Port, s.builder.destination(d.Mesh, o.Tags))
			n++
		}
	}
	if targets := snapshot.basis.Load().targets; targets != nil {
		for i := range targets.outbounds {
			o := &targets.outbounds[i]
			add(n, cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Listens, mesh.target(s.builder, o, enforce.ZoneOf(d)))
			n++
		}
	}
	return places
}
