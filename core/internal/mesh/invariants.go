package mesh

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Check compares the writer with the published state, and the state with its
// resources: the invariants of doc.go. Tests call it after each commit.
func (w *Writer) Check(published *State) error {
	if w.now != published {
		return errors.New("the published state is not the writer's")
	}
	if w.empty() {
		return errors.New("it is empty")
	}
	members := map[uint32]int{}
	var buffer match.Buffer
	classes := w.classes.Len()
	for slot := range w.now.slots.Limit() {
		entry := w.now.dataplanes.Value(slot)
		d := entry.resource
		if d == nil {
			continue
		}
		if at, known := w.now.slots.Lookup(proxyName{d.Namespace, d.Name}); !known || at != slot {
			return fmt.Errorf("%s is in slot %d, and found in %d", d.Name, slot, at)
		}
		p := w.profiles.byNumber[entry.profile]
		if p == nil || !w.now.members.Value(entry.profile).set().Contains(slot) {
			return fmt.Errorf("%s is not a member of its profile", d.Name)
		}
		members[entry.profile]++
		if w.classes.Classify(w.now.index, d, &buffer) != p.class || w.classes.Len() != classes {
			return fmt.Errorf("%s is not in its class", d.Name)
		}
		if w.profileFor(p.class, d) != p {
			return fmt.Errorf("%s has another profile's outbounds", d.Name)
		}
		if err := checkSelection(w.now, d, p.view); err != nil {
			return err
		}
	}
	if err := w.checkProfiles(members); err != nil {
		return err
	}
	return w.now.destinationItems().Check(w.kinds)
}

// checkSelection compares a profile with the policies that select one of its
// members.
func checkSelection(m *State, d *resource.Dataplane, p *profileView) error {
	var buffer match.Buffer
	for _, scope := range []results.Scope{results.Enforced, results.Shadow} {
		in := p.in(scope)
		want := m.index.Select(d, scope, &buffer)
		var got []results.Selected
		for _, config := range in.class.configs {
			for _, s := range config.Matched().All() {
				got = append(got, *s)
			}
		}
		if !match.SameMatched(matched.NewMatched(got), want) || !slices.Equal(in.class.routes, routesOf(want)) {
			return fmt.Errorf("the profile of %s contains other policies than those that select it", d.Name)
		}
		for i, config := range in.class.configs {
			if c := in.configs[i]; c.Kind != config.Kind() || c.Kind.To != nil && !hasIndexes(c.Outbounds, d) {
				return fmt.Errorf("%s has a config of another kind or dataplane", d.Name)
			}
			if c := in.configs[i]; (c.Kind.From != nil || c.Kind.Rules != nil) && len(c.Inbounds) != len(d.Inbounds) {
				return fmt.Errorf("%s has a config of a dataplane with %d inbounds", d.Name, len(c.Inbounds))
			}
		}
	}
	return nil
}

// hasIndexes reports whether a list has the indexes of the outbounds by tags.
func hasIndexes(list []results.OutboundConfig, d *resource.Dataplane) bool {
	var indexes, want []int
	for i := range list {
		indexes = append(indexes, list[i].Index)
	}
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend == nil {
			want = append(want, i)
		}
	}
	return slices.Equal(indexes, want)
}

func (w *Writer) checkProfiles(members map[uint32]int) error {
	profiles := 0
	for number, p := range w.profiles.byNumber {
		if p == nil {
			if w.now.profiles.Value(uint32(number)) != nil || w.now.members.Value(uint32(number)) != nil {
				return fmt.Errorf("the free profile %d is published", number)
			}
			continue
		}
		profiles++
		n := members[uint32(number)]
		if n == 0 || p.size != n || w.now.members.Value(p.number).set().Len() != n {
			return fmt.Errorf("profile %d has %d members, counts %d", number, n, p.size)
		}
		if p.view == nil || w.now.profiles.Value(p.number) != p.view || p.members != nil || p.predecessor != nil {
			return fmt.Errorf("profile %d has uncommitted changes", number)
		}
		if p.view.enforced.class != p.class.State.enforced || p.view.shadow.class != p.class.State.shadow {
			return fmt.Errorf("profile %d has other policies than its class", number)
		}
		if (p.view.enforced == p.view.shadow) != (p.class.State.enforced == p.class.State.shadow) {
			return fmt.Errorf("profile %d has a shadow of its own for the same policies", number)
		}
		if p.class.State.profiles[p.at] != p {
			return fmt.Errorf("profile %d is not in its class", number)
		}
	}
	for _, c := range w.classes.All() {
		profiles -= len(c.State.profiles)
		if len(c.State.profiles) == 0 || c.State.queued || c.State.reselect || c.State.predecessor != nil {
			return errors.New("a class is empty or has uncommitted changes")
		}
	}
	if profiles != 0 {
		return fmt.Errorf("%d profiles are in no class", profiles)
	}
	return nil
}
