package core_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// checkChanges compares what a commit tells with what the answers say.
func (s *sequence) checkChanges(commit core.Commit, before, after answers) {
	s.Helper()
	told := map[resource.ID]core.Change{}
	for _, c := range commit.Changes() {
		list := c.Dataplanes()
		if len(list) != c.Len() || len(list) == 0 {
			s.Fatalf("a change has %d dataplanes and says %d", len(list), c.Len())
		}
		for _, d := range list {
			if _, twice := told[d.ID]; twice {
				s.Fatalf("%s is in two changes", d.Name)
			}
			told[d.ID] = c
		}
	}
	for id, then := range before {
		if _, stays := after[id]; !stays {
			s.checkChange(id, told, core.Left, then, [2]answer{})
		}
	}
	for id, now := range after {
		then, was := before[id]
		switch {
		case !was:
			s.checkChange(id, told, core.Joined, [2]answer{}, now)
		case !saysTheSame(commit.Before.Dataplane(id), commit.After.Dataplane(id)):
			s.checkChange(id, told, core.Changed, then, now)
		default:
			c, ok := told[id]
			if ok && (c.Action != core.Changed || c.Itself || len(c.Policies) == 0 || len(c.Places)+len(c.Shadow) == 0) {
				s.Fatalf("%s %v, itself %v, by %v, %v", id.Name, c.Action, c.Itself, c.Policies, c.Places)
			}
			s.checkPlaces(id, &c, then, now)
		}
	}
}

// checkChange expects that a dataplane's own resource changed.
func (s *sequence) checkChange(id resource.ID, told map[resource.ID]core.Change, action core.Action, then, now [2]answer) {
	s.Helper()
	c, ok := told[id]
	if !ok || c.Action != action || !c.Itself {
		s.Fatalf("%s: want %v, got %v, itself %v", id.Name, action, c.Action, c.Itself)
	}
	s.checkPlaces(id, &c, then, now)
}

// checkPlaces compares the places that are told with those that have another
// text.
func (s *sequence) checkPlaces(id resource.ID, c *core.Change, then, now [2]answer) {
	s.Helper()
	for scope, places := range [][]rules.Place{c.Places, c.Shadow} {
		s.checkScope(id, places, then[scope], now[scope])
	}
}

// checkScope is checkPlaces for one scope. A `from` may have other items and the same rules.
func (s *sequence) checkScope(id resource.ID, places []rules.Place, then, now answer) {
	s.Helper()
	for _, p := range places {
		if p.Kind != rules.AtInbound && then.places[p] == now.places[p] {
			s.Fatalf("%s: %v is told, and stays %s", id.Name, p, now.places[p])
		}
	}
	for _, side := range []answer{then, now} {
		for p := range side.places {
			if then.places[p] != now.places[p] && !slices.Contains(places, p) {
				s.Fatalf("%s: %v is not told, and becomes from %s to %s", id.Name, p, then.places[p], now.places[p])
			}
		}
	}
}

// saysTheSame compares dataplanes without their positions. No outbounds and an
// empty list of them are the same.
func saysTheSame(a, b *resource.Dataplane) bool {
	return cmp.Equal(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(resource.Meta{}, "Pos"))
}
