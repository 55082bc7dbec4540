package match

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// term is a fact that a point can have and a selector can require.
type term struct {
	space termSpace
	key   string
	value string
}

func (t term) compare(o term) int {
	return cmp.Or(cmp.Compare(t.space, o.space), strings.Compare(t.key, o.key), strings.Compare(t.value, o.value))
}

type termSpace uint8

const (
	tagPair     termSpace = iota // key and value of a tag
	tagKey                       // the presence of a tag's key
	labelPair                    // key and value of a dataplane's label
	proxyName                    // the dataplane's name, as value
	proxySpace                   // its namespace, as value
	sectionName                  // the inbound's name or port, as value
	proxyType                    // "Sidecar" or "Gateway", as value
	builtin                      // the gateway is run by the mesh
	placement                    // the placement that the dataplane is in: scope and name
	zone                         // the dataplane's zone, as value; in a DataplaneIndex only
	zoned                        // the dataplane has a zone; in a DataplaneIndex only
)

func tagTerm(t resource.Tag) term {
	if t.Value == resource.AnyValue {
		return term{space: tagKey, key: t.Key}
	}
	return term{space: tagPair, key: t.Key, value: t.Value}
}

func proxyTypeTerm(t resource.ProxyTypes) term {
	if t == resource.Gateway {
		return term{space: proxyType, value: "Gateway"}
	}
	return term{space: proxyType, value: "Sidecar"}
}

// appendSelectorTerms appends the terms that a targetRef requires of a point. It
// returns false for the route kinds: a policy that is attached to a route is
// selected with the route (routeUses).
func appendSelectorTerms(terms []term, t *resource.TargetRef) (_ []term, ok bool) {
	if t.Kind.IsRoute() {
		return terms, false
	}
	for tag := range t.SelectorTags {
		terms = append(terms, tagTerm(tag))
	}
	for _, label := range t.Labels {
		terms = append(terms, term{space: labelPair, key: label.Key, value: label.Value})
	}
	if t.Kind == resource.TargetDataplane && t.Name != "" {
		terms = append(terms, term{space: proxyName, value: t.Name})
	}
	if t.Namespace != "" {
		terms = append(terms, term{space: proxySpace, value: t.Namespace})
	}
	if t.SectionName != "" {
		terms = append(terms, term{space: sectionName, value: t.SectionName})
	}
	if t.ProxyTypes == resource.Sidecar || t.ProxyTypes == resource.Gateway {
		terms = append(terms, proxyTypeTerm(t.ProxyTypes))
	}
	if t.Kind == resource.TargetMeshGateway {
		terms = append(terms, term{space: builtin})
	}
	return terms, true
}

// points returns how many points a dataplane has.
func points(d *resource.Dataplane) int { return max(1, len(d.Inbounds)) }

// yieldPointTerms calls yield with the terms of one point of a dataplane.
func yieldPointTerms(d *resource.Dataplane, point int, yield func(term)) {
	var tags resource.Tags
	switch {
	case len(d.Inbounds) > 0:
		inbound := &d.Inbounds[point]
		tags = inbound.Tags
		yield(term{space: sectionName, value: inbound.SectionName()})
	case d.Gateway != nil:
		tags = d.Gateway.Tags
		if d.Gateway.Builtin {
			yield(term{space: builtin})
		}
	}
	for _, tag := range tags {
		yield(term{space: tagPair, key: tag.Key, value: tag.Value})
		yield(term{space: tagKey, key: tag.Key})
	}
}

// yieldProxyTerms calls yield with the terms that all points of a dataplane
// have. The namespace in a targetRef of kind MeshGateway is compared with that of
// the dataplane, because there are no MeshGateway resources here.
func yieldProxyTerms(d *resource.Dataplane, yield func(term)) {
	for _, label := range d.Labels {
		yield(term{space: labelPair, key: label.Key, value: label.Value})
	}
	yield(term{space: proxyName, value: d.Name})
	yield(term{space: proxySpace, value: d.Namespace})
	yield(proxyTypeTerm(d.ProxyType()))
}
