package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// meshFacts are the facts that some dataplane of a mesh has, at any of its points.
type meshFacts map[semantics.Fact]bool

func newMeshFacts(by semantics.Semantics, dataplanes []*resource.Dataplane) meshFacts {
	have := meshFacts{}
	add := func(f semantics.Fact) { have[f] = true }
	for _, d := range dataplanes {
		by.ProxyFacts(d, add)
		for i := range by.Points(d) {
			by.PointFacts(d, i, add)
		}
	}
	return have
}

// missing returns the reason why a policy selects no dataplane, and a hint: the first fact
// that it requires and that no dataplane has. The reason is "" if there is no such fact; then
// no dataplane has all of them. The policies of a route select what the route selects.
func (m meshFacts) missing(by semantics.Semantics, p *resource.Policy) (reason, hint string) {
	required, attached := by.AppendRequired(nil, p)
	hint = "check the targetRef, or remove the policy"
	if attached {
		return "", hint
	}
	for _, f := range required {
		if m[f] || f.Space == semantics.ZoneScope && m[semantics.Fact{Space: f.Space, Value: semantics.AnyZone}] {
			continue
		}
		if near := diag.DidYouMean(f.Value, m.values(f)); strings.HasPrefix(near, "did you mean") {
			hint = near
		}
		named := p.TargetRef.Kind == resource.TargetDataplane && p.TargetRef.Name != ""
		switch f.Space {
		case semantics.TagPair:
			return fmt.Sprintf("no inbound has the tag %s=%s", f.Key, f.Value), hint
		case semantics.TagKey:
			return "no inbound has the tag " + f.Key, hint
		case semantics.LabelPair:
			return fmt.Sprintf("no dataplane has the label %s=%s", f.Key, f.Value), hint
		case semantics.Name, semantics.DisplayName:
			return fmt.Sprintf("no dataplane has the name %q", f.Value), hint
		case semantics.SectionName:
			return fmt.Sprintf("no inbound has the name or the port %q", f.Value), hint
		case semantics.HomeNamespace:
			if named {
				return fmt.Sprintf("no dataplane is of the namespace %q, in which a name is looked up", f.Value), hint
			}
			return fmt.Sprintf("no dataplane is of its namespace %q", f.Value),
				"a policy of a namespace selects dataplanes of that namespace alone, unless all its `to` items refer to services there; put it into " + resource.SystemNamespace + " to select others"
		case semantics.ZoneScope:
			return fmt.Sprintf("no dataplane is of its zone %q", f.Value), "a policy of a zone selects dataplanes of that zone alone; apply it to the global control plane to select others"
		case semantics.GatewayName:
			return fmt.Sprintf("no builtin gateway is of a MeshGateway %q", f.Value), hint
		}
		return "", "check the targetRef, or remove the policy"
	}
	return "", hint
}

// values returns the values of the facts that differ from f in their value only, sorted.
func (m meshFacts) values(f semantics.Fact) []string {
	var values []string
	for have := range m {
		if have.Space == f.Space && have.Key == f.Key {
			values = append(values, have.Value)
		}
	}
	slices.Sort(values)
	return values
}
