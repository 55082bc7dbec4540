package snapshot

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// NoEffect returns the fields of the confs of a dataplane that its Envoy does not get, with
// the reasons (SPEC 10, inspect dataplane).
func (s *State) NoEffect(d *resource.Dataplane) []inspect.NoEffect {
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
	var list []inspect.NoEffect
	for _, w := range sortWarnings(warnings) {
		if w.Policy == nil || w.Advice || w.Weakens {
			continue
		}
		without := inspect.NoEffect{Policy: w.Policy, Index: w.Index, Field: w.Field, Reason: w.Message, Inbound: inspect.Anywhere, Outbound: inspect.Anywhere}
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

// outboundPlaces returns the outbounds in the order in which package inspect shows them, by
// the places of warnings about them: their listener and their destination.
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
	if targets := snapshot.targets; targets != nil {
		for i := range targets.outbounds {
			o := &targets.outbounds[i]
			add(n, cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Listens, mesh.target(s.builder, o, enforce.ZoneOf(d)))
			n++
		}
	}
	return places
}
