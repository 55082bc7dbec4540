package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// appendTargetRef appends the facts that the top-level targetRef of a policy requires by SPEC 2.2.
func appendTargetRef(facts []Fact, t *resource.TargetRef) []Fact {
	facts = appendTarget(facts, t)
	if t.Kind == resource.TargetDataplane && t.Name != "" {
		facts = append(facts, Fact{Space: Name, Value: t.Name})
	}
	if t.Namespace != "" {
		facts = append(facts, Fact{Space: Namespace, Value: t.Namespace})
	}
	return facts
}
