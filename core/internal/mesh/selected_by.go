package mesh

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// Selected is a dataplane that a policy selects.
type Selected struct {
	Dataplane *resource.Dataplane
	Inbounds  rules.InboundSet
	Enforced  bool // the policy is enforced on the dataplane; otherwise it only informs
}

// SelectedBy yields the dataplanes that a policy of the state selects, in any order.
// Its cost follows the number of profiles and of the dataplanes.
func (m *State) SelectedBy(p *resource.Policy) iter.Seq[Selected] {
	found := map[*selection]*rules.Selected{}
	in := func(s *selection) *rules.Selected {
		selected, known := found[s]
		if !known {
			selected = s.find(p)
			found[s] = selected
		}
		return selected
	}
	return func(yield func(Selected) bool) {
		for number := range m.profiles.Unshared(&index.Vector[*profileView]{}) {
			view := m.profiles.Value(number)
			if view == nil {
				continue
			}
			selected := in(view.shadow.selection)
			if selected == nil {
				continue
			}
			enforced := in(view.enforced.selection) != nil
			for slot := range m.members.Value(number).set().All() {
				if !yield(Selected{m.dataplanes.Value(slot).resource, selected.Inbounds, enforced}) {
					return
				}
			}
		}
	}
}

// find returns the entry of a policy, or nil.
func (s *selection) find(p *resource.Policy) *rules.Selected {
	kind := s.kind(p.Kind)
	if kind == nil {
		return nil
	}
	for _, selected := range kind.Matched().All() {
		if selected.Policy == p {
			return selected
		}
	}
	return nil
}
