package translators

import (
	"errors"
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// patchedPart is a part of a snapshot with what modifications did to it. Whether they
// weaken permissions is decided on the result: the history serves to name the
// modification that did it (SPEC 11.5).
type patchedPart struct {
	*xds.Part
	conf    *results.Effective
	patch   *meshproxypatch.Conf
	history []modification
	work    int // bytes of the messages that were modified, and of what modified them
	maxWork int // the limit of work
}

// Limits of the work on the parts of a snapshot: the bytes of the messages before each
// modification, and of what it makes. Each modification copies its message, so the work on a list that
// grows by each of them is quadratic; and a dataplane has parts for each inbound and outbound. All parts
// share patchWorkOfParts, and each has at least leastPatchWork and at most freePatchWork.
// In addition a part has patchesOfPart times its first size, so that some modifications are done on
// each part however many there are. A message is three times as large as JSON. 1 MiB takes
// about 0.3 s.
const (
	patchWorkOfParts = 16 << 20
	freePatchWork    = 1 << 20
	leastPatchWork   = 16 << 10
	patchesOfPart    = 32
	maxPatchWork     = 6 << 20
	weightOfJSON     = 3
	workOfOne        = 512 // of a modification of an empty message
	partsOfOutbound  = 3   // a listener, routes and a cluster
)

// maxWorkOn returns the limit of the work on a part.
func maxWorkOn(p *xds.Part) int {
	size := 0
	for _, m := range p.Messages {
		size += proto.Size(m)
	}
	free := max(patchWorkOfParts/(partsOfOutbound*max(p.Places, 1)), leastPatchWork)
	return min(min(free, freePatchWork)+patchesOfPart*size, maxPatchWork)
}

var errTooMuchWork = errors.New("this and the later modifications of the resource are not done: those before have copied its size too often, or the dataplane has too many resources for what they make; write one with all of it")

// modification is what one modification did to one message.
type modification struct {
	index         int           // of the modification
	before, after proto.Message // nil: the message was added or removed
	all           []proto.Message
}

func newPatchedPart(p *xds.Part, e *results.Effective, patch *meshproxypatch.Conf) *patchedPart {
	return &patchedPart{Part: p, conf: e, patch: patch, maxWork: maxWorkOn(p)}
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
			p.Warn(patchCode(o.err), p.conf, modificationField(o.index), "%v", o.err)
		}
	}
}

// modifyEach does the modifications from one on. If it is strict, it does none whose result
// Envoy would refuse.
func (p *patchedPart) modifyEach(first int, strict bool) (outcomes []outcome) {
	p.work = 0
	for i := first; i < len(p.patch.AppendModifications); i++ {
		for at := 0; at < len(p.Messages); at++ {
			before := p.Messages[at]
			m := &p.patch.AppendModifications[i]
			if !mayModify(p.Part, m, before) {
				continue
			}
			p.work += workOf(m, before)
			makes := &allowance{min(maxPatched, p.maxWork-p.work)}
			if makes.left < 0 {
				return append(outcomes, outcome{i, errTooMuchWork})
			}
			most := makes.left
			changed, applied, err := modified(p.Part, m, before, makes)
			p.work += most - makes.left
			if isTooMuch(err, most) || p.work > p.maxWork {
				return append(outcomes, outcome{i, errTooMuchWork})
			}
			if strict && err == nil && applied && changed != nil {
				err = refusal(changed)
			}
			if err == nil && applied {
				err = unknownTo(p.Lacks, changed)
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

// isTooMuch reports whether an error is that a modification makes more than a dataplane may have
// for its part, although a resource may have it.
func isTooMuch(err error, most int) bool { return errors.Is(err, errTooLarge) && most < maxPatched }

// workOf returns the work of a modification of a message, without what it makes.
func workOf(m *meshproxypatch.Modification, before proto.Message) int {
	_, patches := m.Content()
	if patches == nil {
		return workOfOne + proto.Size(before)
	}
	work := workOfOne + weightOfJSON*proto.Size(before)
	for i := range patches {
		work += len(patches[i].Path)
	}
	return work
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

// report reports which modifications weaken permissions, and what the messages refer to.
func (p *patchedPart) report() {
	if len(p.history) > 0 {
		p.reportBroken()
		p.reportUnread()
		p.reportSecondInKuma()
	}
	for _, m := range p.Messages {
		switch {
		case slices.ContainsFunc(p.history, func(h modification) bool { return h.after == m }):
			p.reportReach(m)
		case !p.guarded():
			p.reportUnchanged(m)
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

// reportUnread reports elements of the result that Envoy does not read, each for the
// modification that added it.
func (p *patchedPart) reportUnread() {
	for _, h := range p.history {
		if h.after == nil || !slices.ContainsFunc(p.Messages, func(m proto.Message) bool { return nameOf(m) == nameOf(h.after) && unread(m) != "" }) {
			continue
		}
		if what := unread(h.after); what != "" && (h.before == nil || unread(h.before) != what) {
			p.Warn(diag.FieldNotUsed, p.conf, modificationField(h.index), "Envoy reads only the first %s", what)
		}
	}
}

// reportSecondInKuma reports thresholds that a value merges into one with the same priority. The
// proxies of Kuma get a second one.
func (p *patchedPart) reportSecondInKuma() {
	for _, h := range p.history {
		before, is := h.before.(*clusterv3.Cluster)
		after, _ := h.after.(*clusterv3.Cluster)
		if m := p.patch.AppendModifications[h.index].Cluster; !p.OfKuma || !is || m == nil || m.Value == nil {
			continue
		}
		old, next := before.GetCircuitBreakers(), after.GetCircuitBreakers()
		for _, lists := range [][2][]*clusterv3.CircuitBreakers_Thresholds{{old.GetThresholds(), next.GetThresholds()}, {old.GetPerHostThresholds(), next.GetPerHostThresholds()}} {
			for i, t := range lists[0] {
				if i < len(lists[1]) && !proto.Equal(t, lists[1][i]) {
					p.Advise(diag.PatchNotApplied, p.conf, modificationField(h.index), fmt.Sprintf("Kuma adds a second threshold of priority %s, and Envoy reads only the first, so its proxies keep their limits; use jsonPatches", t.Priority))
				}
			}
		}
	}
}

// unread returns what of a message Envoy does not read, although it accepts it: thresholds of
// a priority after the first ones. It is empty if Envoy reads all.
func unread(m proto.Message) string {
	cluster, is := m.(*clusterv3.Cluster)
	if !is {
		return ""
	}
	breakers := cluster.GetCircuitBreakers()
	for i, list := range [][]*clusterv3.CircuitBreakers_Thresholds{breakers.GetThresholds(), breakers.GetPerHostThresholds()} {
		for k, t := range list {
			if slices.ContainsFunc(list[:k], func(first *clusterv3.CircuitBreakers_Thresholds) bool { return first.Priority == t.Priority }) {
				return fmt.Sprintf("of several circuitBreakers.%s of priority %s", [...]string{"thresholds", "perHostThresholds"}[i], t.Priority)
			}
		}
	}
	return ""
}

// reportReach reports what a message refers to by each modification, and what it referred to
// before them.
func (p *patchedPart) reportReach(m proto.Message) {
	final := seal.Find(m)
	c := seal.ReferenceSet{Name: nameOf(m), Changed: true}
	_, c.Cluster = m.(*clusterv3.Cluster)
	moved := -1                     // the modification that moves a listener
	at, found, first := m, final, 0 // found is what at refers to
	var steps []xds.PartChange
	for _, h := range slices.Backward(p.history) {
		if h.after != at {
			continue
		}
		first = h.index
		reach := found
		if h.before != nil {
			found = seal.Find(h.before)
			reach = reach.Without(found)
		}
		if l, ok := h.after.(*listenerv3.Listener); ok {
			if before, ok := h.before.(*listenerv3.Listener); !ok || seal.IsMoved(before, l) {
				moved = h.index
			}
		}
		if reach = reach.Within(final); !reach.Empty() {
			c.Reach = reach
			steps = append(steps, xds.PartChange{ReferenceSet: c, Conf: p.conf, Field: modificationField(h.index)})
		}
		if at = h.before; at == nil {
			break
		}
	}
	if at != nil && (c.Cluster || !p.guarded()) {
		c.Reach, c.Kept, c.Changed = found.Within(final), true, c.Cluster && !isTuned(at, m) || moved >= 0
		steps = append(steps, xds.PartChange{ReferenceSet: c, Conf: p.conf, Field: modificationField(max(moved, first))})
	}
	for i := range steps {
		p.expose(&steps[i].ReferenceSet, m, moved >= 0)
	}
	p.Changes = append(p.Changes, steps...)
}

// isTuned is [seal.IsTuned] for messages of any type.
func isTuned(before, after proto.Message) bool {
	b, was := before.(*clusterv3.Cluster)
	a, is := after.(*clusterv3.Cluster)
	return was && is && seal.IsTuned(b, a)
}

// reportUnchanged reports what a message refers to that no modification changes: a changed
// resource may lead to the workload through it.
func (p *patchedPart) reportUnchanged(m proto.Message) {
	name := nameOf(m)
	if name == "" {
		return
	}
	c := seal.ReferenceSet{Name: name, Kept: true}
	if endpoints, is := m.(*endpointv3.ClusterLoadAssignment); is {
		if !p.External {
			return // its endpoints are proxies
		}
		c.Reach, c.Cluster = seal.FindEndpoints(endpoints), true
	} else {
		c.Reach = seal.Find(m)
		if _, c.Cluster = m.(*clusterv3.Cluster); c.Cluster && len(c.Addresses)+len(c.Unknown)+len(c.Certificates) == 0 {
			return // it has no endpoints of its own
		}
	}
	p.expose(&c, m, false)
	p.Changes = append(p.Changes, xds.PartChange{ReferenceSet: c, Conf: p.conf})
}

// guarded reports whether the part is a listener for clients, which has its own filters.
func (p *patchedPart) guarded() bool {
	switch p.Origin {
	case xds.InboundOrigin, xds.IngressOrigin, xds.EgressOrigin:
		return true
	}
	return p.Sealed != nil
}

// expose sets whether clients other than the workload reach a message. What an inbound runs
// after its permission filter receives allowed requests.
func (p *patchedPart) expose(c *seal.ReferenceSet, m proto.Message, moved bool) {
	l, listener := m.(*listenerv3.Listener)
	if p.guarded() && !c.Cluster {
		reach := *c.Reach
		reach.Unknown, reach.Listening = nil, nil
		c.Reach, c.Exposed, c.Guarded = &reach, true, true
		return
	}
	c.Remote = listener && seal.IsBeyondLoopback(l)
	c.Exposed = listener && moved || c.Remote
}

// nameOf returns the name of a message that a modification changes.
func nameOf(m proto.Message) string {
	switch m := m.(type) {
	case *endpointv3.ClusterLoadAssignment:
		return m.ClusterName
	case interface{ GetName() string }:
		return m.GetName()
	}
	return ""
}
