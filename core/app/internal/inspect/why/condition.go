package why

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unmetTarget returns the first unmet condition of a policy's top-level targetRef, role
// and origin, for the point of a dataplane that meets the most conditions. It returns nil
// if a point meets all conditions.
func unmetTarget(view *core.View, d *resource.Dataplane, p *resource.Policy, points []int) *inspect.UnmetCondition {
	s := view.Semantics()
	required, attached := s.AppendRequired(nil, p)
	if attached && !usesRoute(view, d, p) {
		return routeCondition("spec.targetRef", &p.TargetRef)
	}
	var nearest []semantics.Fact
	var have map[semantics.Fact]bool
	for i, point := range points {
		facts := map[semantics.Fact]bool{}
		add := func(f semantics.Fact) { facts[f] = true }
		s.PointFacts(d, point, add)
		s.ProxyFacts(d, add)
		if unmet := unmetFacts(required, facts); i == 0 || len(unmet) < len(nearest) {
			nearest, have = unmet, facts
		}
	}
	if len(nearest) == 0 {
		return nil
	}
	return factCondition(p, nearest[0], have)
}

// usesRoute reports whether a dataplane has the route to which a policy is
// attached.
func usesRoute(view *core.View, d *resource.Dataplane, p *resource.Policy) bool {
	config, err := view.Config(d, p.TargetRef.Kind.String(), core.Shadow)
	if err != nil {
		return false
	}
	for _, matched := range config.Matched.All() {
		if view.Semantics().RefersToRoute(p, &p.TargetRef, matched.Policy) {
			return true
		}
	}
	return false
}

// unmetFacts returns the required facts that a point does not have, in order.
func unmetFacts(required []semantics.Fact, have map[semantics.Fact]bool) []semantics.Fact {
	return slices.DeleteFunc(slices.Clone(required), func(f semantics.Fact) bool {
		return have[f] || f.Space == semantics.ZoneScope && have[semantics.Fact{Space: semantics.ZoneScope, Value: semantics.AnyZone}]
	})
}

// factCondition returns the condition that requires a fact, and the corresponding value
// of a point.
func factCondition(p *resource.Policy, want semantics.Fact, have map[semantics.Fact]bool) *inspect.UnmetCondition {
	t := &p.TargetRef
	c := &inspect.UnmetCondition{Field: "spec.targetRef.", Want: want.Value, Have: valueLike(want, have)}
	switch want.Space {
	case semantics.TagPair:
		if c.Field += "tags." + want.Key; want.Key == resource.ServiceTag && t.Name != "" {
			c.Field = "spec.targetRef.name"
		}
	case semantics.TagKey:
		c.Field, c.Want = c.Field+"tags."+want.Key, resource.AnyValue
	case semantics.GatewayName:
		c.Field += "name"
	case semantics.ListenerTag:
		c.Field += "tags." + want.Key
	case semantics.ListenerTagKey:
		c.Field, c.Want = c.Field+"tags."+want.Key, resource.AnyValue
	case semantics.LabelPair:
		c.Field += "labels." + want.Key
	case semantics.DisplayName:
		if c.Field += "name"; t.Name == "" {
			c.Field = "spec.targetRef.labels." + resource.DisplayNameLabel
		}
	case semantics.Name:
		c.Field += "name"
	case semantics.Namespace:
		c.Field += "namespace"
	case semantics.SectionName:
		c.Field += "sectionName"
	case semantics.ProxyType:
		c.Field += "proxyTypes"
	case semantics.Builtin:
		c.Field, c.Want = c.Field+"kind", t.Kind.String()
	case semantics.NotBuiltin:
		builtin := "MeshGateway"
		c.Field, c.Want, c.Have = c.Field+"kind", t.Kind.String(), &builtin
	case semantics.HomeNamespace:
		if c.Field += "namespace"; t.Namespace != want.Value {
			c.Field = "metadata.namespace"
		}
	case semantics.InZone, semantics.ZoneScope:
		c.Field = "metadata.labels." + resource.ZoneTag
	case semantics.Serves:
		c.Field, c.Want = "networking.inbound", "an inbound, a gateway or a listener"
	default: // a fact that no dataplane has
		c.Field, c.Want = c.Field+"kind", t.Kind.String()
	}
	return c
}

// valueLike returns a point's value for the subject of a fact, or nil if it has none.
// Of several values, such as the sections of a zone proxy, it returns the first.
func valueLike(want semantics.Fact, have map[semantics.Fact]bool) *string {
	space := want.Space
	if space == semantics.Builtin {
		space = semantics.ProxyType
	}
	var values []string
	for f := range have {
		if f.Space == space && f.Key == want.Key && f.Value != "" {
			values = append(values, f.Value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	value := slices.Min(values)
	return &value
}

// unmetItem returns the first unmet condition of the `to` items of a policy. It is for
// the pair of an item and an outbound that meets the most conditions. It returns nil if
// the policy has no items.
func unmetItem(view *core.View, p *resource.Policy, outbounds []anyOutbound) *inspect.UnmetCondition {
	var nearest []inspect.UnmetCondition
	for i := range p.To {
		field, t := fmt.Sprintf("spec.to[%d].targetRef", i), &p.To[i].TargetRef
		if t.Kind.IsRoute() {
			nearest = fewest(nearest, []inspect.UnmetCondition{*routeCondition(field, t)})
			continue
		}
		for j := range outbounds {
			if unmet := outbounds[j].unmet(view, p, field, t); len(unmet) > 0 {
				nearest = fewest(nearest, unmet)
			}
		}
	}
	if len(nearest) == 0 {
		return nil
	}
	return &nearest[0]
}

// fewest returns the shorter list; the first if it is not empty and the other is not
// shorter.
func fewest(a, b []inspect.UnmetCondition) []inspect.UnmetCondition {
	if len(a) == 0 || len(b) < len(a) {
		return b
	}
	return a
}

// routeCondition is the condition that a route exists.
func routeCondition(field string, t *resource.TargetRef) *inspect.UnmetCondition {
	if t.Name == "" {
		return &inspect.UnmetCondition{Field: field + ".labels", Want: t.Labels.String()}
	}
	return &inspect.UnmetCondition{Field: field + ".name", Want: t.Name}
}

// anyOutbound is an outbound with tags or an outbound of a destination.
type anyOutbound struct {
	tags        resource.Tags
	destination *destination.Outbound // nil: the outbound has tags
}

// anyOutbounds returns the outbounds of a dataplane in the order of answers.
func anyOutbounds(view *core.View, d *resource.Dataplane) []anyOutbound {
	tagged := lists.Filter(d.Outbounds, func(o resource.Outbound) bool { return o.Backend == nil })
	outbounds := lists.MapPointers(tagged, func(o *resource.Outbound) anyOutbound { return anyOutbound{tags: o.Tags} })
	return append(outbounds, lists.MapPointers(view.DestinationOutbounds(d), func(o *destination.Outbound) anyOutbound { return anyOutbound{destination: o} })...)
}

// unmet returns the conditions of the targetRef at a field of a policy that the outbound does
// not meet.
func (o *anyOutbound) unmet(view *core.View, p *resource.Policy, field string, t *resource.TargetRef) []inspect.UnmetCondition {
	var unmet []inspect.UnmetCondition
	compare := func(name, want, have string) {
		c := inspect.UnmetCondition{Field: field + "." + name, Want: want}
		if have != "" {
			c.Have = &have
		}
		if want != "" && want != have {
			unmet = append(unmet, c)
		}
	}
	if o.destination == nil {
		for tag := range t.SelectorTags {
			have, has := o.tags.Get(tag.Key)
			switch {
			case tag.Value == resource.AnyValue && has:
			case tag.Key == resource.ServiceTag && t.Name != "":
				compare("name", tag.Value, have)
			default:
				compare("tags."+tag.Key, tag.Value, have)
			}
		}
		if len(unmet) == 0 && !t.SelectsOutbound(o.tags) {
			compare("kind", t.Kind.String(), "an outbound with tags")
		}
		return unmet
	}
	meta := o.destination.Destination.Identity()
	if t.Kind != resource.TargetMesh {
		compare("kind", t.Kind.String(), meta.Kind)
	}
	if t.Kind != resource.TargetMesh && t.Name != meta.Name {
		compare("name", t.Name, view.Semantics().ReferenceName(meta))
	}
	if t.Namespace != meta.Namespace {
		compare("namespace", t.Namespace, meta.HomeNamespace())
	}
	for _, label := range t.Labels {
		compare("labels."+label.Key, label.Value, meta.Labels.Value(label.Key))
	}
	if t.SectionName != "" && t.SectionName != o.destination.Section {
		compare("sectionName", t.SectionName, o.destination.Section)
	}
	if len(unmet) == 0 && t.Kind != resource.TargetMesh && t.Name != "" && !view.Semantics().FindsByName(&p.Meta, t.Namespace, meta) {
		unmet = append(unmet, *notByName(p, field, t, meta))
	}
	return unmet
}

// notByName is the condition that a destination does not meet although it has the name: a
// name finds destinations of the zone and the namespace of its policy, or of the namespace of
// the targetRef; in Kuma 3 it finds none (SPEC 17.3).
func notByName(p *resource.Policy, field string, t *resource.TargetRef, of *resource.Meta) *inspect.UnmetCondition {
	want, have := place(p.Zone(), cmp.Or(t.Namespace, p.HomeNamespace())), place(of.Zone(), of.HomeNamespace())
	if want == have {
		return &inspect.UnmetCondition{Field: field + ".labels", Want: resource.DisplayNameLabel + "=" + t.Name}
	}
	have = t.Name + " " + have
	return &inspect.UnmetCondition{Field: field + ".name", Want: t.Name + " " + want, Have: &have}
}

// place names a zone and a namespace.
func place(zone, namespace string) string {
	text := "of no zone"
	if zone != "" {
		text = "of zone " + zone
	}
	if namespace != "" {
		text += " and namespace " + namespace
	}
	return text
}
