package mesh

import (
	"runtime"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Buffers are the memory that the workers of updates use again.
type Buffers struct{ each []match.Buffer }

// forWorkers returns a buffer for each worker, as many as there are cores.
func (b *Buffers) forWorkers() []match.Buffer {
	if n := runtime.GOMAXPROCS(0); len(b.each) < n {
		b.each = make([]match.Buffer, n)
	}
	return b.each
}

// parallelFrom is the number of classes from which several workers evaluate them.
// A class that 1,000 policies select takes about 100 µs, starting a worker about
// 1 µs.
const parallelFrom = 4

// evaluate evaluates the queued classes and their profiles. Workers share nothing
// but blocks, so the result does not depend on their number.
func (u *Update) evaluate(buffers []match.Buffer) error {
	if len(u.queue) == 0 {
		return nil
	}
	if len(u.queue) < parallelFrom {
		buffers = buffers[:1]
	}
	results := make([]classResult, len(u.queue))
	err := InParallel(len(buffers), func(worker, workers int) (err error) {
		w := evaluator{Update: u, buffer: &buffers[worker]}
		defer w.running.Recover(&err) // confs are merged
		for i := worker; i < len(u.queue); i += workers {
			results[i] = w.class(u.queue[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range u.queue {
		u.install(&c.State, &results[i])
	}
	return nil
}

// classResult is the next state of a class and its profiles.
type classResult struct {
	class classState     // its selections only
	views []*profileView // parallel to the class's profiles; the same pointer if unchanged
}

// install makes a result the present state of a class.
func (u *Update) install(c *classState, result *classResult) {
	u.released.addKinds(c, &result.class)
	c.enforced, c.shadow = result.class.enforced, result.class.shadow
	c.queued, c.reselect, c.origin = false, false, nil
	for i, p := range c.profiles {
		p.origin = nil
		if next := result.views[i]; next != p.view {
			u.released.addConfigs(p.view, next)
			p.view = next
			*u.views.Mut(p.number) = next
		}
	}
}

// evaluator is one worker of an update. It changes nothing but blocks, to which
// its results hold references.
type evaluator struct {
	*Update
	buffer  *match.Buffer
	running Guard
}

func (w *evaluator) class(c *class) classResult {
	state := &c.State
	out := classResult{class: classState{enforced: state.enforced, shadow: state.shadow}, views: make([]*profileView, len(state.profiles))}
	from := reusable(c)
	if state.reselect {
		w.reselect(c, from, &out.class)
	}
	if from != state {
		w.holdKinds(&out.class, from)
	}
	outbounds := classOutbounds{evaluator: w, before: from}
	for i, p := range state.profiles {
		out.views[i] = outbounds.profile(&out.class, p)
	}
	return out
}

// classOutbounds evaluates the outbounds of the profiles of one class.
type classOutbounds struct {
	*evaluator
	before *classState
	made   []madeEvaluator
}

// madeEvaluator is the outbound evaluator for a class config and routes.
type madeEvaluator struct {
	kind      *blocks.ClassConfig
	routes    []*resource.Policy
	evaluator *blocks.OutboundEvaluator
}

// profile returns the view of p by the selections of its class: p.view if it does
// not change.
func (o *classOutbounds) profile(c *classState, p *profile) *profileView {
	if p.view != nil && p.view.enforced.selection == c.enforced && p.view.shadow.selection == c.shadow {
		return p.view
	}
	had := p.reusableView()
	next := &profileView{enforced: o.scope(c.enforced, p, nil, had)}
	next.shadow = next.enforced
	if c.shadow != c.enforced {
		next.shadow = o.scope(c.shadow, p, next.enforced, had)
	}
	if had != p.view {
		o.holdConfigs(next, had)
	}
	return next
}

// scope evaluates a selection for a profile. Configs of an earlier view, or of the
// other scope, are reused if their class config and routes are the same.
func (o *classOutbounds) scope(s *selection, p *profile, other *scopeConfigs, had *profileView) *scopeConfigs {
	earlier := [3]*scopeConfigs{other, had.in(rules.Enforced), had.in(rules.Shadow)}
	out := &scopeConfigs{selection: s, configs: make([]*rules.Config, len(s.kinds))}
	for i, kind := range s.kinds {
		if kind.Kind().To == nil || len(p.sample.Outbounds) == 0 {
			out.configs[i] = kind.Config()
			continue
		}
		for _, e := range earlier {
			if out.configs[i] == nil {
				out.configs[i] = e.config(kind, s.routes)
			}
		}
		if out.configs[i] == nil {
			o.running.Code = kind.Kind().Name
			before := o.before.enforced.kind(kind.Kind().Name)
			out.configs[i] = o.of(kind, before, s.routes).Config(p.sample, earlier[1].config(before, s.routes))
		}
	}
	return out
}

// of returns the outbound evaluator for a class config, which all profiles of the
// class share.
func (o *classOutbounds) of(kind, before *blocks.ClassConfig, routes []*resource.Policy) *blocks.OutboundEvaluator {
	for _, m := range o.made {
		if m.kind == kind && slices.Equal(m.routes, routes) {
			return m.evaluator
		}
	}
	made := o.blocks.OutboundEvaluator(kind, before, routes)
	o.made = append(o.made, madeEvaluator{kind, routes, made})
	return made
}
