package mesh

import (
	"context"
	"runtime"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
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

// parallelFrom is the smallest number of classes that several workers evaluate.
// A class that 1,000 policies select takes about 100 µs, starting a worker about
// 1 µs.
const parallelFrom = 4

// evaluate sets the next configs of the queued classes and their profiles. Workers share
// nothing but blocks, so the result does not depend on their number.
func (u *Update) evaluate(ctx context.Context, buffers []match.Buffer) error {
	if len(u.queue) == 0 {
		return nil
	}
	if len(u.queue) < parallelFrom {
		buffers = buffers[:1]
	}
	evaluated := make([]classResult, len(u.queue))
	pager := matched.NewPager(u.writer.seed)
	err := InParallel(len(buffers), func(worker, workers int) (err error) {
		w := evaluator{
			blocks: u.writer.blocks, kinds: u.writer.kinds, index: u.index, delta: u.delta, buffer: &buffers[worker], pager: pager,
		}
		defer w.running.Recover(&err) // confs are merged
		for i := worker; i < len(u.queue); i += workers {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			evaluated[i] = w.class(u.queue[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range u.queue {
		u.install(&c.State, &evaluated[i])
	}
	return nil
}

// classResult is the next state of a class and its profiles.
type classResult struct {
	class classState     // its class configs only
	views []*profileView // parallel to the class's profiles; the same pointer if unchanged
}

// install makes a result the present state of a class.
func (u *Update) install(c *classState, result *classResult) {
	c.enforced, c.shadow = result.class.enforced, result.class.shadow
	c.queued, c.reselect, c.predecessor = false, false, nil
	for i, p := range c.profiles {
		p.predecessor = nil
		if next := result.views[i]; next != p.view {
			p.view = next
			*u.views.Mut(p.number) = next
		}
	}
}

// evaluator is one worker of an update. It changes nothing but blocks.
type evaluator struct {
	blocks  *blocks.Table
	kinds   *resource.Kinds
	index   *match.Index // of the next state
	delta   *match.Delta
	buffer  *match.Buffer  // of this worker
	pager   *matched.Pager // of all workers
	running Guard
}

func (w *evaluator) class(c *class) classResult {
	state := &c.State
	out := classResult{class: classState{enforced: state.enforced, shadow: state.shadow}, views: make([]*profileView, len(state.profiles))}
	from := reusable(c)
	if state.reselect {
		w.reselect(c, from, &out.class)
	}
	outbounds := classOutbounds{blocks: w.blocks, running: &w.running, before: from}
	for i, p := range state.profiles {
		out.views[i] = outbounds.profile(&out.class, p)
	}
	return out
}

// classOutbounds evaluates the outbounds of the profiles of one class.
type classOutbounds struct {
	blocks  *blocks.Table
	running *Guard
	before  *classState
	made    []madeEvaluator
}

// madeEvaluator is the outbound evaluator for a class config and routes.
type madeEvaluator struct {
	config    *blocks.ClassConfig
	routes    []*resource.Policy
	evaluator *blocks.OutboundEvaluator
}

// profile returns the view of p by the configs of its class: p.view if it does
// not change.
func (o *classOutbounds) profile(c *classState, p *profile) *profileView {
	if p.view != nil && p.view.enforced.class == c.enforced && p.view.shadow.class == c.shadow {
		return p.view
	}
	had := p.reusableView()
	next := &profileView{enforced: o.scope(c.enforced, p, nil, had)}
	next.shadow = next.enforced
	if c.shadow != c.enforced {
		next.shadow = o.scope(c.shadow, p, next.enforced, had)
	}
	return next
}

// scope evaluates the policies of one scope for a profile. Configs of an earlier view,
// or of the other scope, are reused if their class config and routes are the same.
func (o *classOutbounds) scope(s *classConfigs, p *profile, other *profileConfigs, had *profileView) *profileConfigs {
	earlier := [3]*profileConfigs{other, had.in(results.Enforced), had.in(results.Shadow)}
	out := &profileConfigs{class: s, configs: make([]*results.Config, len(s.configs))}
	for i, config := range s.configs {
		if config.Kind().To == nil || len(p.sample.Outbounds) == 0 {
			out.configs[i] = config.Config()
			continue
		}
		for _, e := range earlier {
			if out.configs[i] == nil {
				out.configs[i] = e.config(config, s.routes)
			}
		}
		if out.configs[i] == nil {
			o.running.Code = config.Kind().Name
			before := o.before.enforced.configFor(config.Kind().Name)
			out.configs[i] = o.evaluatorFor(config, before, s.routes).Config(p.sample, earlier[1].config(before, s.routes))
		}
	}
	return out
}

// evaluatorFor returns the outbound evaluator for a class config, which all profiles of the
// class share.
func (o *classOutbounds) evaluatorFor(config, before *blocks.ClassConfig, routes []*resource.Policy) *blocks.OutboundEvaluator {
	for _, m := range o.made {
		if m.config == config && slices.Equal(m.routes, routes) {
			return m.evaluator
		}
	}
	made := o.blocks.OutboundEvaluator(config, before, routes)
	o.made = append(o.made, madeEvaluator{config, routes, made})
	return made
}
