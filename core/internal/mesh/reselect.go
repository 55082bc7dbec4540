package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// reselect sets the next configs of a class. Class configs of from are reused.
func (w *evaluator) reselect(c *class, from, next *classState) {
	state, sample := &c.State, c.State.profiles[0].sample
	if replaced := w.delta.Replaced(); replaced != nil && state.enforced != nil {
		next.enforced = w.replaced(state.enforced, replaced, sample, nil, nil)
		next.shadow = next.enforced
		if state.shadow != state.enforced {
			next.shadow = w.replaced(state.shadow, replaced, sample, state.enforced, next.enforced)
		}
		return
	}
	if shadow := w.unchangedShadow(c, from); shadow != nil {
		if enforced, ok := w.enforcedOf(c, shadow, sample, from.enforced); ok {
			next.enforced, next.shadow = enforced, shadow
			return
		}
	}
	next.enforced = w.classConfigs(c.Select(w.index, results.Enforced, w.buffer), sample, from.enforced, from.shadow)
	next.shadow = next.enforced
	if w.index.HasInforming() {
		next.shadow = w.classConfigs(c.Select(w.index, results.Shadow, w.buffer), sample, next.enforced, from.shadow)
	}
}

// replaced returns class configs with new versions of policies in the place of old
// ones, or s if it has none of the old ones. Before and after are other class configs
// and their replacement; a config in both s and before is replaced by the same one.
func (w *evaluator) replaced(s *classConfigs, versions map[*resource.Policy]*resource.Policy, sample *resource.Dataplane, before, after *classConfigs) *classConfigs {
	next := &classConfigs{configs: slices.Clone(s.configs), routes: s.routes}
	for i, config := range s.configs {
		if before != nil {
			if at := slices.Index(before.configs, config); at >= 0 {
				next.configs[i] = after.configs[at]
				continue
			}
		}
		if matched, any := w.buffer.Replace(w.pager, config.Matched(), versions); any {
			next.configs[i] = w.classConfig(config.Kind(), sample, matched)
		}
	}
	if slices.Equal(next.configs, s.configs) {
		return s
	}
	return next
}

// classConfigs returns the class configs of the selected policies, which are in a
// buffer. A config of an earlier list is reused, and an earlier list that is equal is
// returned itself.
func (w *evaluator) classConfigs(selected []results.Selected, sample *resource.Dataplane, earlier ...*classConfigs) *classConfigs {
	s := &classConfigs{routes: routesOf(selected)}
	for group := range groupByKind(selected) {
		s.configs = append(s.configs, w.reused(group, sample, earlier))
	}
	return s.orEqual(earlier...)
}

// orEqual returns the first of the earlier lists that is equal to s, or s.
func (s *classConfigs) orEqual(earlier ...*classConfigs) *classConfigs {
	for _, known := range earlier {
		if known != nil && slices.Equal(known.configs, s.configs) { // the routes are among the policies
			return known
		}
	}
	return s
}

// reused returns the class config of the selected policies of one kind: an earlier one
// of the same policies, or a new one whose list shares pages with an earlier one.
func (w *evaluator) reused(group []results.Selected, sample *resource.Dataplane, earlier []*classConfigs) *blocks.ClassConfig {
	name := group[0].Policy.Kind
	var similar results.Matched
	for _, s := range earlier {
		known := s.configFor(name)
		if known == nil {
			continue
		}
		if match.SameMatched(known.Matched(), group) {
			return known
		}
		similar = known.Matched()
	}
	return w.classConfig(w.kinds.Lookup(name), sample, w.pager.After(similar, group))
}

func (w *evaluator) classConfig(kind *resource.Kind, sample *resource.Dataplane, matched results.Matched) *blocks.ClassConfig {
	w.running.Code = kind.Name
	return w.blocks.ClassConfig(kind, sample, matched)
}
