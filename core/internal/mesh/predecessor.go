package mesh

import (
	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// If a dataplane enters a placement that none of its former class was in, it gets a new
// class. Little of what that class needs is new: the policies that it gains were evaluated
// in scope Shadow for the former class. So a new class and a new profile have a
// predecessor: the previous profile of their first dataplane. They use its configs if these are
// for the same policies. The result does not depend on the predecessor.
//
// In package core/app/internal/world, 1,000 dataplanes in 250 classes with 1,090 policies each
// enter a placement in 3.8 ms. It takes 33 ms if no class has a predecessor.

// setPredecessor records the profile that a member of p had before, if p or its class
// is new and has no predecessor yet.
func setPredecessor(p, former *profile) {
	if state := &p.class.State; state.enforced == nil && state.predecessor == nil {
		state.predecessor = former
	}
	if p.view == nil && p.predecessor == nil {
		p.predecessor = former
	}
}

// reusable returns the state whose class configs a class can use: its own,
// or the state of the predecessor of a new class. The number of inbounds must be the same,
// because a class config depends on it.
func reusable(c *class) *classState {
	state := &c.State
	if from := state.predecessor; from != nil && len(from.sample.Inbounds) == len(state.profiles[0].sample.Inbounds) {
		return &from.class.State
	}
	return state
}

// reusableView returns the view whose configs a profile can use: its own, or that
// of the predecessor of a new profile, if it has the same outbounds; nil if there is
// none.
func (p *profile) reusableView() *profileView {
	if from := p.predecessor; p.view == nil && from != nil && equalOutboundTags(from.sample.Outbounds, p.sample.Outbounds) {
		return from.view
	}
	return p.view
}

// unchangedShadow returns the configs in scope Shadow that a class had before, or that
// its predecessor has, if the same policies still select the class; otherwise nil.
// Placements do not matter in this scope.
func (w *evaluator) unchangedShadow(c *class, from *classState) *classConfigs {
	if w.delta.SamePolicies() && from.shadow != nil && (from == &c.State || c.SameButPlacements(c.State.predecessor.class)) {
		return from.shadow
	}
	return nil
}

// enforcedOf returns the configs in scope Enforced of a class with the given configs in
// scope Shadow, by leaving out what is not enforced. It returns false if a route only
// informs, because policies that are attached to it may then inform too.
func (w *evaluator) enforcedOf(c *class, shadow *classConfigs, sample *resource.Dataplane, earlier *classConfigs) (*classConfigs, bool) {
	s := &classConfigs{configs: make([]*blocks.ClassConfig, 0, len(shadow.configs)), routes: shadow.routes}
	for i, labelled := range shadow.withShadowLabel() {
		config, informing := shadow.configs[i], []int(nil)
		for _, at := range labelled {
			if p := config.Matched().At(at).Policy; c.Informs(w.index, p) {
				if p.IsRoute() {
					return nil, false
				}
				informing = append(informing, at)
			}
		}
		switch known := earlier.configFor(config.Kind().Name); {
		case len(informing) == 0:
			s.configs = append(s.configs, config)
		case len(informing) == config.Matched().Len():
		case known != nil && match.SameWithout(known.Matched(), config.Matched(), informing):
			s.configs = append(s.configs, known)
		default:
			w.running.Code = config.Kind().Name
			s.configs = append(s.configs, w.blocks.Without(w.pager, config, sample, informing))
		}
	}
	return s.orEqual(earlier, shadow), true
}
