package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/resource"
)

// inputSet is a set of inputs that a build has asked for.
type inputSet uint16

// The inputs of snapshots, in addition to the dataplane, its configs and the endpoints of
// destinations. Each has a method of reader. Each has an entry in the table of inputs, except
// the last two, which Snapshot.follow compares.
const (
	identityInput inputSet = 1 << iota
	trustDomainInput
	trustsInput
	openInput
	passthroughInput
	collectorsInput
	destinationsInput
	outboundsInput
	exposuresInput
	viewInput
	// configsInput is the configs as a whole, instead of their confs, see Snapshot.follow.
	configsInput
	// passingInput is the confs of passthrough. Those of a snapshot are in its basis.
	passingInput

	allInputs inputSet = 1<<iota - 1
)

// inputs are how an input is compared in two states of a mesh.
var inputs = []struct {
	of inputSet
	// same reports whether the input is the same for all dataplanes.
	same func(before, after *meshState) bool
	// holds reports whether it is the same for a snapshot, if it is not for all; nil: it is
	// not.
	holds func(s *Snapshot, before, after *meshState, state *State) bool
}{
	{
		of:   identityInput,
		same: func(before, after *meshState) bool { return before.identities == after.identities },
		holds: func(s *Snapshot, before, after *meshState, _ *State) bool {
			return before.identifies(s.Dataplane, after)
		},
	},
	{
		of: trustDomainInput,
		same: func(before, after *meshState) bool {
			return before.identities == after.identities && same(before.trusts, after.trusts)
		},
		holds: func(s *Snapshot, before, after *meshState, _ *State) bool {
			return before.clientTrustDomain(s.Dataplane) == after.clientTrustDomain(s.Dataplane)
		},
	},
	{
		of:   trustsInput,
		same: func(before, after *meshState) bool { return same(before.trusts, after.trusts) },
	},
	{
		of: openInput,
		same: func(before, after *meshState) bool {
			return before.open == after.open && before.openIdentified == after.openIdentified &&
				(before.open == before.openIdentified || before.identities == after.identities)
		},
		holds: func(s *Snapshot, before, after *meshState, _ *State) bool {
			return before.isOpen(s.Dataplane) == after.isOpen(s.Dataplane)
		},
	},
	{
		of:   passthroughInput,
		same: func(before, after *meshState) bool { return before.passthroughOff == after.passthroughOff },
	},
	{
		of:   collectorsInput,
		same: func(before, after *meshState) bool { return before.collectors == after.collectors },
	},
	{
		of:   destinationsInput,
		same: func(before, after *meshState) bool { return before.destinations == after.destinations },
	},
	{
		of:   outboundsInput,
		same: func(before, after *meshState) bool { return before.destinations == after.destinations },
		holds: func(s *Snapshot, _, after *meshState, state *State) bool {
			return sameOutbounds(s.basis.Load().targets.list(), state.view.DestinationOutbounds(s.Dataplane))
		},
	},
	{
		of: exposuresInput,
		same: func(before, after *meshState) bool {
			return before.destinations == after.destinations && before.zones == after.zones
		},
		holds: func(s *Snapshot, _, after *meshState, state *State) bool {
			return slices.Equal(s.zone.exposed, after.exposures(state.builder, s.Dataplane))
		},
	},
	{
		of:    viewInput,
		same:  func(_, _ *meshState) bool { return false },
		holds: func(s *Snapshot, _, after *meshState, state *State) bool { return s.zone.view == state.view },
	},
}

// differing returns the inputs of a set that are not the same for all dataplanes of a mesh.
func (i inputSet) differing(before, after *meshState) (differ inputSet) {
	for _, input := range inputs {
		if i&input.of != 0 && !input.same(before, after) {
			differ |= input.of
		}
	}
	return differ
}

// holds reports whether a build of the snapshot in a state would read what the snapshot was
// built from.
func (s *Snapshot) holds(state *State) bool {
	before, after := s.mesh.Load(), state.meshes[s.Dataplane.Mesh]
	asked := s.asked()
	if before == after && asked&viewInput == 0 {
		return true
	}
	if since := &after.since; since.number == before.number && asked&since.inputs == 0 && s.zone == nil && s.shared.reads.services&(since.services|otherServices) == 0 {
		s.mesh.Store(after)
		return true
	}
	for _, input := range inputs {
		if asked&input.of != 0 && !input.same(before, after) && (input.holds == nil || !input.holds(s, before, after, state)) {
			return false
		}
	}
	if held := s.shared.held; held.Load() != after {
		if !state.hold(before, after, s.shared.reads.sets) {
			return false
		}
		held.Store(after)
	}
	if s.zone != nil && !state.hold(before, after, s.zone.sets) {
		return false
	}
	s.mesh.Store(after)
	return true
}

// asked returns the inputs that the snapshot was built from.
func (s *Snapshot) asked() inputSet { return s.inputs | s.shared.reads.inputs }

// hold reports whether destinations have the endpoints that they had before.
func (s *State) hold(before, after *meshState, sets []destinationSet) bool {
	for _, known := range sets {
		if before.destinations != after.destinations && known.destination.target.hasOtherSecrets(after.destinations) ||
			after.endpoints(s.builder, known.destination) != known.set {
			return false
		}
	}
	return true
}

// identifies reports whether a dataplane has the same identity in another state of the mesh,
// or none for the same reason.
func (m *meshState) identifies(d *resource.Dataplane, other *meshState) bool {
	a, errA := m.identities.IdentityOf(d)
	b, errB := other.identities.IdentityOf(d)
	if errA != nil && errB != nil {
		return errA.Error() == errB.Error()
	}
	return errA == nil && errB == nil && sameIdentity(a, b)
}

func sameIdentity(a, b *identity.Identity) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// clientTrustDomain returns the trust domain of all clients that a dataplane accepts, see
// [identity.ClientTrustDomain].
func (m *meshState) clientTrustDomain(d *resource.Dataplane) string {
	id, err := m.identities.IdentityOf(d)
	if err != nil {
		return ""
	}
	return identity.ClientTrustDomain(id, m.identities, m.trusts)
}

// isOpen reports that no permission is applied to a dataplane (SPEC 17.1).
func (m *meshState) isOpen(d *resource.Dataplane) bool {
	if m.open == m.openIdentified {
		return m.open
	}
	if id, err := m.identities.IdentityOf(d); id != nil || err != nil {
		return m.openIdentified
	}
	return m.open
}
