package core

import (
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// workerBuffers returns the memory of as many workers as there are cores.
func (e *Engine) workerBuffers() []match.Buffer {
	if n := runtime.GOMAXPROCS(0); len(e.buffers) < n {
		e.buffers = make([]match.Buffer, n)
	}
	return e.buffers
}

// parallelFrom is the number of classes from which they are shared out to
// workers: one takes some 100 µs where 1,000 policies select it, starting a
// worker some 1 µs.
const parallelFrom = 4

// evaluate brings the queued classes and their profiles up to date. What one
// worker does depends on no other; only blocks are shared.
func (c *commit) evaluate(buffers []match.Buffer) error {
	results := make([]evaluated, len(c.queue))
	work := func(worker, workers int) (err error) {
		defer catch(&err) // confs are merged
		for i := worker; i < len(c.queue); i += workers {
			results[i] = c.evaluateClass(c.queue[i], &buffers[worker])
		}
		return nil
	}
	var group errgroup.Group
	if len(c.queue) < parallelFrom {
		buffers = buffers[:1]
	}
	for worker := range buffers[1:] {
		group.Go(func() error { return work(worker+1, len(buffers)) })
	}
	if err := errors.Join(work(0, len(buffers)), group.Wait()); err != nil {
		return err
	}
	for i, k := range c.queue {
		c.install(k, &results[i])
	}
	return nil
}

// evaluated is what a class and its profiles become.
type evaluated struct {
	class    class      // only its selections
	profiles []*profile // parallel to the class's; what stays is the same pointer
}

func (c *commit) install(k *class, e *evaluated) {
	c.garbage.addParts(k, &e.class)
	k.enforced, k.shadow = e.class.enforced, e.class.shadow
	k.queued, k.reselect = false, false
	for i, p := range k.profiles {
		if next := e.profiles[i]; next != p.now {
			c.garbage.add(p.now, next)
			p.now = next
			*c.views.Mut(p.number) = next
		}
	}
}

// evaluateClass changes nothing but blocks, to which the result holds
// references.
func (c *commit) evaluateClass(k *class, b *match.Buffer) evaluated {
	out := evaluated{class: class{enforced: k.enforced, shadow: k.shadow}, profiles: make([]*profile, len(k.profiles))}
	if k.reselect {
		c.reselect(k, &out.class, b)
	}
	outbounds := outboundParts{blocks: c.blocks, before: k}
	for i, p := range k.profiles {
		out.profiles[i] = outbounds.profile(&out.class, p)
	}
	return out
}

// outboundParts evaluates outbounds for the profiles of one class.
type outboundParts struct {
	blocks *rules.Blocks
	before *class // as it was
	made   []madeOutbounds
}

type madeOutbounds struct {
	part      *rules.Part
	routes    []*resource.Policy
	outbounds *rules.OutboundPart
}

// profile returns what p becomes under the selections of its class; p.now if
// that is the same.
func (o *outboundParts) profile(k *class, p *profileState) *profile {
	if p.now != nil && p.now.enforced.selection == k.enforced && p.now.shadow.selection == k.shadow {
		return p.now
	}
	next := &profile{enforced: o.outcome(k.enforced, p, nil)}
	next.shadow = next.enforced
	if k.shadow != k.enforced {
		next.shadow = o.outcome(k.shadow, p, next.enforced)
	}
	return next
}

// outcome evaluates a selection for a profile. Configs that the profile had,
// or has in another outcome, of the same part and routes are taken from there.
func (o *outboundParts) outcome(s *selection, p *profileState, other *outcome) *outcome {
	earlier := [3]*outcome{other}
	if p.now != nil {
		earlier[1], earlier[2] = p.now.enforced, p.now.shadow
	}
	out := &outcome{selection: s, configs: make([]*rules.Config, len(s.parts))}
	for i, part := range s.parts {
		if part.Kind().To == nil || len(p.like.Outbounds) == 0 {
			out.configs[i] = part.Config()
			continue
		}
		for _, e := range earlier {
			if out.configs[i] == nil {
				out.configs[i] = e.config(part, s.routes)
			}
		}
		if out.configs[i] == nil {
			before := o.before.enforced.part(part.Kind().Name)
			out.configs[i] = o.of(part, before, s.routes).Config(p.like, earlier[1].config(before, s.routes))
		}
	}
	return out
}

func (o *outboundParts) of(part, before *rules.Part, routes []*resource.Policy) *rules.OutboundPart {
	for _, m := range o.made {
		if m.part == part && slices.Equal(m.routes, routes) {
			return m.outbounds
		}
	}
	made := o.blocks.Outbounds(part, before, routes)
	o.made = append(o.made, madeOutbounds{part, routes, made})
	return made
}
