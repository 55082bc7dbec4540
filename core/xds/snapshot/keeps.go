package snapshot

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A step leads from one state of a builder to the next one. It has the dataplanes whose own
// resources or configs may differ, in the versions of both; nil: they are not known.
type step struct {
	touched map[*resource.Dataplane]struct{}
}

const (
	// maxSteps is how many steps a state keeps. A server may skip states.
	maxSteps = 64
	// maxTouched is how many dataplanes a step contains. For a larger change, a list costs more
	// than a call of SnapshotFor for each other dataplane.
	maxTouched = 1_000
)

// stepsTo returns the steps to a view that follows the state.
func (s *State) stepsTo(view *core.View) []*step {
	next := &step{touched: map[*resource.Dataplane]struct{}{}}
	for d := range core.TouchedDataplanes(s.view, view) {
		if len(next.touched) == maxTouched {
			next.touched = nil
			break
		}
		next.touched[d] = struct{}{}
	}
	known := s.steps[max(0, len(s.steps)+1-maxSteps):]
	return append(known[:len(known):len(known)], next)
}

// Keeps reports that the state has the same snapshot as an earlier one for a dataplane and a
// client, if the earlier state returned it: nothing changed that it depends on. False means that
// it may have another one, see [State.SnapshotFor]. It costs a fraction of [State.SnapshotFor]:
// call it first, if each dataplane is checked after each change.
func (s *State) Keeps(known *Snapshot, before *State) bool {
	if s == before {
		return true
	}
	d := known.Dataplane
	if s.builder != before.builder || s.meshes[d.Mesh] == nil || before.number > s.number || s.number-before.number > uint64(len(s.steps)) {
		return false
	}
	for _, step := range s.steps[len(s.steps)-int(s.number-before.number):] {
		if _, touched := step.touched[d]; touched || step.touched == nil {
			return false
		}
	}
	if !known.holds(s) {
		return false
	}
	if s.builder.audit {
		known.mustEqual(s.build(d, s.view.Configs(d, s.builder.scope), known.client, nil))
	}
	return true
}
