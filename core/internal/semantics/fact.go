package semantics

import (
	"cmp"
	"hash/maphash"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Fact is a property of an inbound or a gateway, or of its dataplane. A policy selects
// an inbound that has all facts that the policy requires.
type Fact struct {
	Space Space
	Key   string
	Value string
}

// Compare orders facts.
func (f Fact) Compare(o Fact) int {
	return cmp.Or(cmp.Compare(f.Space, o.Space), strings.Compare(f.Key, o.Key), strings.Compare(f.Value, o.Value))
}

// HashFact returns the hash of a fact. Hashing the whole struct would take three times as long.
func HashFact(seed maphash.Seed, f Fact) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	return (maphash.String(seed, f.Key)+uint64(f.Space))*prime ^ maphash.String(seed, f.Value)
}

// Space is the subject of a [Fact].
type Space uint8

// The spaces.
const (
	TagPair       Space = iota // key and value of a tag
	TagKey                     // the presence of a tag's key
	LabelPair                  // key and value of a dataplane's label
	Name                       // the dataplane's name, as value
	Namespace                  // its namespace, as value
	SectionName                // the inbound's name or port, as value
	ProxyType                  // "Sidecar" or "Gateway", as value
	Builtin                    // the gateway is run by the mesh
	NotBuiltin                 // there is no such gateway
	DisplayName                // the dataplane's display name, as value
	HomeNamespace              // the namespace in which it was made, as value
	InZone                     // its zone, as value; empty without one
	// ZoneScope has as value a zone whose policies apply only to its own dataplanes. A
	// dataplane with the value [AnyZone] has this fact for every zone.
	ZoneScope
	Serves // there is an inbound, a listener, or a gateway that Kuma can configure
	// GatewayName has as value the display name of the MeshGateway of a builtin gateway.
	// ListenerTag and ListenerTagKey are as TagPair and TagKey, for the own tags of a
	// listener.
	GatewayName
	ListenerTag
	ListenerTagKey
	Never // no dataplane has this fact
	// FirstFree is the first space that this package does not use.
	FirstFree
)

// AnyZone is the value of [ZoneScope] for a dataplane without a label of the zone in which it
// was made.
const AnyZone = "*"

// AppendRequired appends the facts that the top-level targetRef, the role and the origin
// of a policy require of an inbound (SPEC 2.2, 17.1). Attached is true for a policy that
// is attached to a route: such a policy is selected where the route is
// ([Semantics.RefersToRoute]) and the required facts hold.
func (s Semantics) AppendRequired(facts []Fact, p *resource.Policy) (_ []Fact, attached bool) {
	attached = p.TargetRef.Kind.IsRoute()
	if s.isKuma() {
		if !attached {
			facts = s.appendKumaTarget(facts, p)
		}
		return s.appendScope(facts, p), attached
	}
	if !attached {
		facts = appendTargetRef(facts, &p.TargetRef)
	}
	return facts, attached
}

// Points returns the number of points of a dataplane: its named points, its gateway, or
// one point without own facts.
func (s Semantics) Points(d *resource.Dataplane) int { return max(1, s.NamedPoints(d)) }

// NamedPoints returns the number of points that a policy can select one by one: the
// inbounds, followed by the [Semantics.ZoneListeners], or else the listeners of a builtin
// gateway.
func (s Semantics) NamedPoints(d *resource.Dataplane) int {
	return max(len(d.Inbounds)+len(s.ZoneListeners(d)), len(d.GatewayListeners()))
}

// ZoneListeners returns the listeners of a zone proxy that policies select (SPEC 17.3).
// The caller must not change the slice.
func (s Semantics) ZoneListeners(d *resource.Dataplane) []resource.Listener {
	if s == TargetRef {
		return nil
	}
	return d.Listeners
}

// PointFacts calls yield with the facts of one point of a dataplane.
func (s Semantics) PointFacts(d *resource.Dataplane, point int, yield func(Fact)) {
	var tags resource.Tags
	switch zones := s.ZoneListeners(d); {
	case point < len(d.Inbounds):
		inbound := &d.Inbounds[point]
		tags = inbound.Tags
		yield(Fact{Space: SectionName, Value: inbound.SectionName()})
	case len(zones) > 0: // Kuma selects them like inbounds
		listener := &zones[point-len(d.Inbounds)]
		tags = listener.Tags
		yield(Fact{Space: SectionName, Value: listener.SectionName()})
	case len(d.GatewayListeners()) > 0:
		listener := &d.GatewayListeners()[point]
		tags = ListenerTags(d, listener)
		yield(Fact{Space: Builtin})
		for _, tag := range listener.Tags {
			yield(Fact{ListenerTag, tag.Key, tag.Value})
			yield(Fact{Space: ListenerTagKey, Key: tag.Key})
		}
	case d.Gateway != nil:
		tags = d.Gateway.Tags
		if d.Gateway.Builtin {
			yield(Fact{Space: Builtin})
		}
	}
	for _, tag := range tags {
		yield(Fact{TagPair, tag.Key, tag.Value})
		yield(Fact{Space: TagKey, Key: tag.Key})
	}
}

// ProxyFacts calls yield with the facts that all points of a dataplane have.
func (s Semantics) ProxyFacts(d *resource.Dataplane, yield func(Fact)) {
	for _, label := range d.Labels {
		yield(Fact{LabelPair, label.Key, label.Value})
	}
	yield(Fact{Space: Name, Value: d.Name})
	yield(Fact{Space: Namespace, Value: d.Namespace})
	yield(proxyType(d.ProxyType()))
	if s != TargetRef {
		kumaFacts(d, yield)
	}
}

func proxyType(t resource.ProxyTypes) Fact {
	if t == resource.Gateway {
		return Fact{Space: ProxyType, Value: "Gateway"}
	}
	return Fact{Space: ProxyType, Value: "Sidecar"}
}

// appendTarget appends the facts that a targetRef requires in both semantics. The
// namespace in a targetRef of kind MeshGateway is compared with the namespace of the
// dataplane.
func appendTarget(facts []Fact, t *resource.TargetRef) []Fact {
	for tag := range t.SelectorTags {
		if tag.Value == resource.AnyValue {
			facts = append(facts, Fact{Space: TagKey, Key: tag.Key})
		} else {
			facts = append(facts, Fact{TagPair, tag.Key, tag.Value})
		}
	}
	for _, label := range t.Labels {
		facts = append(facts, Fact{LabelPair, label.Key, label.Value})
	}
	if t.SectionName != "" {
		facts = append(facts, Fact{Space: SectionName, Value: t.SectionName})
	}
	if t.ProxyTypes == resource.Sidecar || t.ProxyTypes == resource.Gateway {
		facts = append(facts, proxyType(t.ProxyTypes))
	}
	if t.Kind == resource.TargetMeshGateway {
		facts = append(facts, Fact{Space: Builtin})
	}
	return facts
}
