package mesh

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Selection is a dataplane that a policy selects.
type Selection struct {
	Dataplane *resource.Dataplane
	Inbounds  results.InboundSet
	Enforced  bool // the policy is enforced on the dataplane; otherwise it only informs
}

// SelectedBy yields the dataplanes that a policy of the state selects, in any order.
// Its cost is proportional to the number of profiles and of dataplanes.
func (m *State) SelectedBy(p *resource.Policy) iter.Seq[Selection] {
	found := map[*classConfigs]*results.Selected{}
	in := func(s *classConfigs) *results.Selected {
		selected, known := found[s]
		if !known {
			selected = s.find(p)
			found[s] = selected
		}
		return selected
	}
	return func(yield func(Selection) bool) {
		for number := range m.profiles.Unshared(&index.Vector[*profileView]{}) {
			view := m.profiles.Value(number)
			if view == nil {
				continue
			}
			selected := in(view.shadow.class)
			if selected == nil {
				continue
			}
			enforced := in(view.enforced.class) != nil
			for slot := range m.members.Value(number).set().All() {
				if !yield(Selection{m.dataplanes.Value(slot).resource, selected.Inbounds, enforced}) {
					return
				}
			}
		}
	}
}

// find returns the entry of a policy, or nil.
func (s *classConfigs) find(p *resource.Policy) *results.Selected {
	config := s.configFor(p.Kind)
	if config == nil {
		return nil
	}
	for _, selected := range config.Matched().All() {
		if selected.Policy == p {
			return selected
		}
	}
	return nil
}
