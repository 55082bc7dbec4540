package snapshot

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/results"
)

// basis is the confs that a snapshot was built from, or later ones with the same confs at
// each place of the dataplane. A change of a policy gives each dataplane that it selects other
// configs, most of which have the confs that they had: an item to one service has no effect
// on the outbounds to others.
type basis struct {
	configs []*results.Config
	targets *targetConfs                  // nil: no outbound leads to a resource
	found   *targetConfs                  // of backends of routes; nil: there are none
	passing map[string]*results.Effective // see State.passthroughConfs
}

// follow reports whether configs of the dataplane have the same confs as those that the
// snapshot was built from. Then they become its basis, and what they replace is freed.
func (s *Snapshot) follow(state *State, configs []*results.Config) bool {
	before := s.basis.Load()
	if same(before.configs, configs) {
		return true
	}
	if s.asked()&configsInput != 0 || !slices.EqualFunc(before.configs, configs, sameConfs) ||
		s.asked()&passingInput != 0 && !maps.Equal(before.passing, state.passthroughConfs(s.Dataplane, configs)) ||
		before.targets != nil && !state.kindConfs(s.Dataplane, configs).isSame(before.targets) {
		return false
	}
	s.basis.Store(&basis{configs: configs, targets: before.targets, passing: before.passing})
	return true
}

// sameConfs reports whether two configs have the same confs at each place. Translators get
// the whole config of a kind without `to`.
func sameConfs(a, b *results.Config) bool {
	return a == b || a.Kind == b.Kind && a.Kind.To != nil && a.Default == b.Default && slices.Equal(a.Inbounds, b.Inbounds) &&
		slices.EqualFunc(a.Outbounds, b.Outbounds, func(a, b results.OutboundConfig) bool {
			return a.Index == b.Index && a.Effective == b.Effective && slices.Equal(a.Routes, b.Routes)
		})
}

// repeats reports whether a new snapshot of the dataplane is equal to s: it has the same
// content, the same warnings, and would be built again for the same reasons.
func (s *Snapshot) repeats(o *Snapshot) bool {
	if s.Dataplane != o.Dataplane || s.shared != o.shared || s.asked() != o.asked() || s.zone != nil || o.zone != nil ||
		!sameIdentity(s.Identity, o.Identity) || !slices.EqualFunc(s.own, o.own, (*built).repeats) ||
		!slices.Equal(s.warnings, o.warnings) || !slices.Equal(s.silent, o.silent) || !slices.Equal(s.warned, o.warned) {
		return false
	}
	return slices.EqualFunc(s.byType[:], o.byType[:], sameResources)
}

// repeats reports whether two parts are equal.
func (b *built) repeats(o *built) bool {
	return b == o || b.inbound == o.inbound && b.refers == nil && o.refers == nil && sameResources(b.resources, o.resources) &&
		slices.Equal(b.warnings, o.warnings) && slices.Equal(b.applied, o.applied) && slices.Equal(b.policies, o.policies) &&
		len(b.changes)+len(o.changes) == 0
}
