package mesh

import (
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// memberSet contains the slots of the dataplanes of one profile. It is replaced
// when dataplanes join or leave the profile; nil is empty.
type memberSet struct {
	slots index.Set
	once  sync.Once
	least resource.ID
}

func (s *memberSet) set() index.Set {
	if s == nil {
		return index.Set{}
	}
	return s.slots
}

// first returns the first identity of the members, in a state that has them. It
// is found once; all states with the same members share the result.
func (s *memberSet) first(m *State) resource.ID {
	s.once.Do(func() { s.least = m.first(s.slots) })
	return s.least
}

// first returns the first identity of the dataplanes in the slots. The order of
// slots depends on how a state came about, so answers are not sorted by it.
func (m *State) first(slots index.Set) resource.ID {
	var least *resource.Dataplane
	for slot := range slots.All() {
		d := m.dataplanes.Get(slot).resource
		if least == nil || d.Namespace < least.Namespace || d.Namespace == least.Namespace && d.Name < least.Name {
			least = d
		}
	}
	return least.ID
}
