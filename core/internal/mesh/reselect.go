package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// reselect sets the next selections of a class. Class configs of from are reused.
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
	if shadow := w.sameShadow(c, from); shadow != nil {
		if enforced, ok := w.enforcedOf(c, shadow, sample, from.enforced); ok {
			next.enforced, next.shadow = enforced, shadow
			return
		}
	}
	next.enforced = w.selection(c.Select(w.index, rules.Enforced, w.buffer), sample, from.enforced, from.shadow)
	next.shadow = next.enforced
	if w.index.HasInforming() {
		next.shadow = w.selection(c.Select(w.index, rules.Shadow, w.buffer), sample, next.enforced, from.shadow)
	}
}

// replaced returns a selection with new versions of policies in the place of old
// ones, or s if it has none of the old ones. Before and after are a selection and
// its replacement that were computed already; class configs in both are shared.
func (w *evaluator) replaced(s *selection, versions map[*resource.Policy]*resource.Policy, sample *resource.Dataplane, before, after *selection) *selection {
	next := &selection{kinds: slices.Clone(s.kinds), routes: s.routes}
	for i, kind := range s.kinds {
		if before != nil {
			if at := slices.Index(before.kinds, kind); at >= 0 {
				next.kinds[i] = after.kinds[at]
				continue
			}
		}
		if matched, any := match.Replace(kind.Matched(), versions); any {
			next.kinds[i] = w.classConfig(kind.Kind(), sample, matched)
		}
	}
	if slices.Equal(next.kinds, s.kinds) {
		return s
	}
	return next
}

// selection returns the selection of the selected policies, which are in a
// buffer. Class configs of earlier selections are reused, and an earlier
// selection that is equal is returned itself.
func (w *evaluator) selection(selected []rules.Selected, sample *resource.Dataplane, earlier ...*selection) *selection {
	s := &selection{routes: routesOf(selected)}
	for group := range groupByKind(selected) {
		s.kinds = append(s.kinds, w.kind(group, sample, earlier))
	}
	return s.orEqual(earlier...)
}

// orEqual returns the first of the earlier selections that is equal to s, or s.
func (s *selection) orEqual(earlier ...*selection) *selection {
	for _, known := range earlier {
		if known != nil && slices.Equal(known.kinds, s.kinds) { // the routes are among the policies
			return known
		}
	}
	return s
}

func (w *evaluator) kind(group []rules.Selected, sample *resource.Dataplane, earlier []*selection) *blocks.ClassConfig {
	name := group[0].Policy.Kind
	for _, s := range earlier {
		if known := s.kind(name); known != nil && match.SameMatched(known.Matched(), group) {
			return known
		}
	}
	return w.classConfig(w.kinds.Lookup(name), sample, rules.NewMatched(group))
}

func (w *evaluator) classConfig(kind *resource.Kind, sample *resource.Dataplane, matched rules.Matched) *blocks.ClassConfig {
	w.running.Code = kind.Name
	return w.blocks.ClassConfig(kind, sample, matched)
}
