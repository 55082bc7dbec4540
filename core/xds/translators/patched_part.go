package translators

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/seal"
)

// patchedPart is a part of a snapshot with what modifications did to it. Whether they
// weaken permissions is decided on the result: the history serves to name the
// modification that did it (SPEC 11.5).
type patchedPart struct {
	*xds.Part
	conf    *rules.Effective
	patch   *meshproxypatch.Conf
	history []modification
}

// modification is what one modification did to one message.
type modification struct {
	index         int           // of the modification
	before, after proto.Message // nil: the message was added or removed
	all           []proto.Message
}

func newPatchedPart(p *xds.Part, e *rules.Effective, patch *meshproxypatch.Conf) *patchedPart {
	return &patchedPart{Part: p, conf: e, patch: patch}
}

// added notes that a modification added a message.
func (p *patchedPart) added(index int, m proto.Message) {
	p.history = append(p.history, modification{index: index, after: m, all: slices.Clone(p.Messages)})
}

// outcome is that a modification applied to a message, or why it did not.
type outcome struct {
	index int
	err   error
}

// modify applies the modifications from one on. A message that would be invalid stays as it
// was. If Envoy would refuse the result, modify goes back to the last result that Envoy
// accepts, and applies the later modifications that keep it accepted: work is linear in the
// number of modifications. So one modification may remove a filter and the next one add
// another.
func (p *patchedPart) modify(first int) {
	initial := slices.Clone(p.Messages)
	outcomes := p.modifyEach(first, false)
	if len(p.history) > 0 && refusalOf(p.Messages) != nil && (p.Origin == addedOrigin || refusalOf(initial) == nil) {
		again := p.back(first, initial)
		outcomes = slices.DeleteFunc(outcomes, func(o outcome) bool { return o.index >= again })
		outcomes = append(outcomes, p.modifyEach(again, true)...)
	}
	for _, o := range outcomes {
		p.Apply(meshProxyPatchKind, modificationField(o.index))
		if o.err != nil {
			p.Warn(diag.PatchNotApplied, p.conf, modificationField(o.index), "%v", o.err)
		}
	}
}

// modifyEach does the modifications from one on. If it is strict, it does none whose result
// Envoy would refuse.
func (p *patchedPart) modifyEach(first int, strict bool) (outcomes []outcome) {
	for i := first; i < len(p.patch.AppendModifications); i++ {
		for at := 0; at < len(p.Messages); at++ {
			before := p.Messages[at]
			changed, applied, err := modified(p.Part, &p.patch.AppendModifications[i], before)
			if strict && err == nil && applied && changed != nil {
				err = refusal(changed)
			}
			if err != nil || applied {
				outcomes = append(outcomes, outcome{i, err})
			}
			if err != nil || !applied {
				continue
			}
			p.Messages = slices.Clone(p.Messages)
			if p.Messages[at] = changed; changed == nil {
				p.Messages = slices.Delete(p.Messages, at, at+1)
				at--
			}
			p.history = append(p.history, modification{i, before, changed, p.Messages})
		}
	}
	return outcomes
}

// back goes back to the last messages between two modifications that Envoy accepts, else to
// the initial ones. It returns the modification that was done next.
func (p *patchedPart) back(first int, initial []proto.Message) (next int) {
	for last := len(p.history) - 1; last >= 0 && p.history[last].index >= first; last-- {
		done := last == len(p.history)-1 || p.history[last+1].index != p.history[last].index
		if all := p.history[last].all; done && refusalOf(all) == nil {
			p.Messages, p.history = all, p.history[:last+1]
			return p.history[last].index + 1
		}
	}
	p.Messages = initial
	p.history = slices.DeleteFunc(p.history, func(h modification) bool { return h.index >= first })
	return first
}

// refusalOf returns why Envoy refuses one of the messages.
func refusalOf(messages []proto.Message) error {
	for _, m := range messages {
		if err := refusal(m); err != nil {
			return err
		}
	}
	return nil
}

// report reports which modifications weaken permissions, and what the changed messages
// refer to.
func (p *patchedPart) report() {
	if len(p.history) == 0 {
		return
	}
	p.reportBroken()
	for _, m := range p.Messages {
		if slices.ContainsFunc(p.history, func(h modification) bool { return h.after == m }) {
			p.reportReach(m)
		}
	}
}

// reportBroken reports what is broken of the seal, each with the modification after which
// it was.
func (p *patchedPart) reportBroken() {
	if p.Sealed == nil {
		return
	}
	broken := p.Sealed.Broken(p.Messages)
	if len(broken) == 0 {
		return
	}
	var before []string
	by := map[string]int{}
	for _, h := range p.history {
		after := p.Sealed.Broken(h.all)
		for _, what := range after {
			if !slices.Contains(before, what) {
				by[what] = h.index
			}
		}
		before = after
	}
	for _, what := range broken {
		p.Weaken(p.conf, modificationField(by[what]), what)
	}
}

// reportReach reports what modifications make a message refer to.
func (p *patchedPart) reportReach(m proto.Message) {
	final := seal.Find(m)
	_, cluster := m.(*clusterv3.Cluster)
	at := m
	for _, h := range slices.Backward(p.history) {
		if h.after != at {
			continue
		}
		reach := seal.Find(at)
		if h.before != nil {
			reach = reach.Without(seal.Find(h.before))
		}
		if reach = reach.Within(final); !reach.Empty() {
			p.Changes = append(p.Changes, xds.PartChange{
				Change: seal.Change{Name: nameOf(m), Reach: reach, Cluster: cluster, Added: p.Origin == addedOrigin},
				Conf:   p.conf, Field: modificationField(h.index),
			})
		}
		if at = h.before; at == nil {
			return
		}
	}
}

// nameOf returns the name of a message that a modification changes.
func nameOf(m proto.Message) string {
	switch m := m.(type) {
	case *clusterv3.Cluster:
		return m.Name
	case *listenerv3.Listener:
		return m.Name
	case *routev3.RouteConfiguration:
		return m.Name
	}
	return ""
}
