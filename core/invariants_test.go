package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// CheckInvariants compares what a writer keeps with what it was made from. It
// is called after each commit of a test.
func (e *Engine) CheckInvariants() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	view := e.View()
	if len(view.meshes) != len(e.meshes) {
		return fmt.Errorf("the view has %d meshes, the engine %d", len(view.meshes), len(e.meshes))
	}
	for _, m := range view.meshes {
		w := e.meshes[m.name]
		if w == nil || w.now != m {
			return fmt.Errorf("mesh %q is not the engine's", m.name)
		}
		if err := w.check(); err != nil {
			return fmt.Errorf("mesh %q: %w", m.name, err)
		}
	}
	return nil
}

func (w *meshWriter) check() error {
	if w.empty() {
		return errors.New("it is empty")
	}
	members := map[uint32]int{}
	var buffer match.Buffer
	classes := w.sorted.Len()
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
		if p == nil || !w.now.members.Value(entry.profile).Contains(slot) {
			return fmt.Errorf("%s is not a member of its profile", d.Name)
		}
		members[entry.profile]++
		if w.sorted.Of(w.now.index, d, &buffer) != p.class.Class || w.sorted.Len() != classes {
			return fmt.Errorf("%s is not in its class", d.Name)
		}
		if w.profileFor(p.class, d) != p {
			return fmt.Errorf("%s has another profile's outbounds", d.Name)
		}
		if err := checkSelection(w.now, d, p.now); err != nil {
			return err
		}
	}
	if err := w.checkProfiles(members); err != nil {
		return err
	}
	return w.checkBlocks()
}

// checkBlocks compares references to blocks with who holds them.
func (w *meshWriter) checkBlocks() error {
	var parts []*rules.Part
	var configs []*rules.Config
	for _, k := range w.classes {
		if k != nil {
			parts = append(parts, k.parts()...)
		}
	}
	for _, p := range w.profiles.byNumber {
		if p != nil {
			configs = append(configs, p.now.outboundConfigs()...)
		}
	}
	return w.blocks.Audit(parts, configs)
}

// checkSelection compares a profile with what selects one of its members.
func checkSelection(m *meshView, d *resource.Dataplane, p *profile) error {
	var buffer match.Buffer
	for scope, o := range map[match.Scope]*outcome{match.Enforced: p.enforced, match.Shadow: p.shadow} {
		want := m.index.Select(d, scope, &buffer)
		var got []match.Selected
		for _, part := range o.selection.parts {
			for _, s := range part.Matched().All() {
				got = append(got, *s)
			}
		}
		if !match.NewMatched(got).Is(want) || !slices.Equal(o.selection.routes, routesOf(want)) {
			return fmt.Errorf("%s is selected by others than its profile says", d.Name)
		}
		for i, part := range o.selection.parts {
			if c := o.configs[i]; c.Kind != part.Kind() || c.Kind.To != nil && len(c.Outbounds) != len(d.Outbounds) {
				return fmt.Errorf("%s has a config of another kind or dataplane", d.Name)
			}
		}
	}
	return nil
}

func (w *meshWriter) checkProfiles(members map[uint32]int) error {
	profiles := 0
	for number, p := range w.profiles.byNumber {
		if p == nil {
			if w.now.profiles.Value(uint32(number)) != nil || w.now.members.Value(uint32(number)).Len() > 0 {
				return fmt.Errorf("the free profile %d is published", number)
			}
			continue
		}
		profiles++
		n := members[uint32(number)]
		if n == 0 || p.size != n || w.now.members.Value(p.number).Len() != n {
			return fmt.Errorf("profile %d has %d members, counts %d", number, n, p.size)
		}
		if p.now == nil || w.now.profiles.Value(p.number) != p.now || p.members != nil {
			return fmt.Errorf("profile %d is not settled", number)
		}
		if p.now.enforced.selection != p.class.enforced || p.now.shadow.selection != p.class.shadow {
			return fmt.Errorf("profile %d is not what its class is", number)
		}
		if (p.now.enforced == p.now.shadow) != (p.class.enforced == p.class.shadow) {
			return fmt.Errorf("profile %d has a shadow of its own for the same policies", number)
		}
		if p.class.profiles[p.at] != p || w.classes[p.class.Number] != p.class {
			return fmt.Errorf("profile %d is not in its class", number)
		}
	}
	classes := 0
	for _, k := range w.classes {
		if k == nil {
			continue
		}
		classes++
		profiles -= len(k.profiles)
		if len(k.profiles) == 0 || k.queued || k.reselect {
			return fmt.Errorf("class %d is not settled", k.Number)
		}
	}
	if profiles != 0 || classes != w.sorted.Len() {
		return fmt.Errorf("%d profiles too many, %d classes of %d", profiles, classes, w.sorted.Len())
	}
	return nil
}
