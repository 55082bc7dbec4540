package semantics

import (
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// targetRef is the reader of SPEC 1 to 9.
type targetRef struct{}

func (targetRef) compare(a, b *resource.Policy) int { return results.DefaultOrder(a, b) }

func (targetRef) appendTarget(facts []Fact, p *resource.Policy) []Fact {
	t := &p.TargetRef
	facts = appendTarget(facts, t)
	if t.Kind == resource.TargetDataplane && t.Name != "" {
		facts = append(facts, Fact{Space: Name, Value: t.Name})
	}
	if t.Namespace != "" {
		facts = append(facts, Fact{Space: Namespace, Value: t.Namespace})
	}
	return facts
}

func (targetRef) appendScope(facts []Fact, _ *resource.Policy) []Fact { return facts }

func (targetRef) refersToRoute(_ *resource.Policy, t *resource.TargetRef, route *resource.Policy) bool {
	return t.SelectsRoute(route)
}

func (targetRef) fromItems(*resource.Kind) FromItems { return FromByClient }
