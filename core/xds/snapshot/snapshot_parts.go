package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// outboundParts are the parts of a snapshot that belong to its outbounds. Dataplanes
// with the same outbounds and confs have the same parts: then they are one pointer.
type outboundParts struct {
	parts []*built
	reads reads // what they were built from
	// held is a state of the mesh in which the destinations have the endpoints that were read. So
	// after an edit they are compared once for all dataplanes that share the parts.
	held *atomic.Pointer[meshState]
	// The following are made from parts.
	api       []*wire.Resource // see Snapshot.API
	endpoints []*wire.Resource // sorted by name
}

func (p *outboundParts) hash() uint64 { return p.reads.hash(hashOf(0, p.parts...)) }

func (p *outboundParts) equal(o *outboundParts) bool {
	return slices.Equal(p.parts, o.parts) && p.reads.equal(&o.reads)
}

// outboundParts returns the shared parts of the snapshot.
func (sb *snapshotBuilder) outboundParts() *outboundParts {
	p := &sb.shared
	return sb.bundles.get(p, func() *outboundParts {
		done := &outboundParts{
			parts: slices.Clone(p.parts), reads: reads{p.reads.inputs, slices.Clone(p.reads.sets), p.reads.services}, api: slices.Clone(p.api),
			held: new(atomic.Pointer[meshState]),
		}
		slices.SortFunc(done.api, func(a, b *wire.Resource) int { return cmp.Compare(a.Name, b.Name) })
		done.endpoints = slices.Clone(sb.resources[wire.EndpointType])
		return done
	})
}

// hasOutboundsOf reports whether the parts of the outbounds have the same inputs as in an
// earlier snapshot of the dataplane. Most policies change inbounds or outbounds alone, and a
// dataplane has many outbounds.
func (sb *snapshotBuilder) hasOutboundsOf(before *Snapshot) bool {
	refers := func(part *built) bool { return part.refers != nil }
	was := before.basis.Load()
	return before.Dataplane == sb.dataplane && before.mesh.Load() == sb.in.mesh &&
		same(was.targets.list(), sb.basis.targets.list()) &&
		sb.shape.sameOutbounds(was.configs, sb.basis.configs) &&
		len(sb.dataplane.Listeners) == 0 && // they add destinations
		!slices.ContainsFunc(before.own, refers) && !slices.ContainsFunc(sb.snapshot.own, refers)
}

// sameOutbounds reports whether two lists of the configs of a dataplane are the same for its
// outbounds.
func (s *shape) sameOutbounds(a, b []*results.Config) bool {
	inboundsOnly := func(c *results.Config) bool { r := s.reach[c.Kind.Name]; return !r.outbounds && !r.finished }
	return slices.Equal(slices.DeleteFunc(slices.Clone(a), inboundsOnly), slices.DeleteFunc(slices.Clone(b), inboundsOnly))
}

// addOutboundsOf adds the parts of the outbounds as they are in an earlier snapshot.
func (sb *snapshotBuilder) addOutboundsOf(before *Snapshot) {
	for _, part := range before.shared.parts {
		for _, r := range part.resources {
			sb.resources[r.Type] = append(sb.resources[r.Type], r)
		}
	}
	s := sb.snapshot
	sb.shared, s.shared = *before.shared, before.shared
	sb.Warnings = append(sb.Warnings, before.warned...)
	s.warned = before.warned
	if found := before.basis.Load().found; found != nil {
		sb.basis.found = sb.in.foundConfs(sb.basis.configs, found.outbounds)
	}
}

// mustHaveOutboundsOf panics if the outbounds differ from the outbounds of an earlier
// snapshot, because then hasOutboundsOf lacks an input.
func (s *Snapshot) mustHaveOutboundsOf(before *Snapshot, parts *outboundParts) {
	sameWarnings := slices.EqualFunc(s.warned, before.warned, func(a, b xds.Warning) bool { return a.Compare(b) == 0 })
	if !parts.equal(before.shared) || !sameWarnings {
		panic(fmt.Sprintf("the outbounds of %s are others, although nothing has changed", s.Dataplane.ID))
	}
}

// secretKey identifies the secrets of a dataplane. Most dataplanes that read them from
// files have equal ones.
type secretKey struct{ first, second *wire.Resource }

// secretPart returns the part that secrets are.
func (b *Builder) secretPart(secrets []*wire.Resource, warnings []xds.Warning) *built {
	made := func() *built { return &built{resources: secrets, warnings: warnings} }
	if len(secrets) != 2 || len(warnings) > 0 {
		return made()
	}
	return b.secretParts.Get(secretKey{secrets[0], secrets[1]}, made)
}
