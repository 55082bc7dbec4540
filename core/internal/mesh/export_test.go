package mesh

import "github.com/meshmatch/meshmatch/core/resource"

// Nowhere is no profile.
const Nowhere = noProfile

// Copied makes the version in which dataplanes are changed and have left a profile and joined
// another one, and copies what an update copies for its readers. It finds out nothing: neither
// who is selected nor whether a resource differs. The dataplanes that join nowhere are removed.
func (m *State) Copied(dataplanes []*resource.Dataplane, from, to uint32) *State {
	next := *m
	slots, entries := m.slots, m.dataplanes.Edit()
	left, joined := m.members.Value(from).set().Edit(), m.members.Value(to).set().Edit()
	for _, d := range dataplanes {
		name := proxyName{d.Namespace, d.Name}
		slot, known := m.slots.Lookup(name)
		if !known {
			e := slots.Edit()
			slot, _ = e.Add(name)
			slots = e.Commit()
		}
		*entries.Mut(slot) = dataplane{d, to}
		if from != to && from != Nowhere {
			left.Remove(slot)
		}
		if from != to && to != Nowhere {
			joined.Add(slot)
		}
		if to == Nowhere {
			*entries.Mut(slot) = dataplane{}
			e := slots.Edit()
			e.Release(slot)
			slots = e.Commit()
		}
	}
	if from != to {
		members := m.members.Edit()
		if from != Nowhere {
			*members.Mut(from) = &memberSet{slots: left.Commit()}
		}
		if to != Nowhere {
			*members.Mut(to) = &memberSet{slots: joined.Commit()}
		}
		next.members = members.Commit()
	}
	next.slots, next.dataplanes, next.list = slots, entries.Commit(), new(dataplaneList)
	return &next
}
