package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// role returns the role of a policy in Kuma. Kuma refuses a policy whose `to` items have
// different roles; here it is a consumer policy.
func (s Semantics) role(p *resource.Policy) Role {
	role, _ := RoleOf(p, s == Kuma3)
	return role
}

// appendScope appends the facts that the role and the origin of a policy require in Kuma.
func (s Semantics) appendScope(facts []Fact, p *resource.Policy) []Fact {
	facts = append(facts, Fact{Space: Serves})
	if s == Kuma3 && p.TargetRef.Kind.IsRoute() {
		facts = append(facts, Fact{Space: Never})
	}
	role := s.role(p)
	if role == ProducerRole {
		return facts
	}
	if p.Origin() == resource.ZoneOrigin && p.Zone() != "" {
		facts = append(facts, Fact{Space: ZoneScope, Value: p.Zone()})
	}
	if role != SystemRole {
		facts = append(facts, Fact{Space: HomeNamespace, Value: p.HomeNamespace()})
	}
	return facts
}

// appendKumaTarget ignores a name in Kuma 3. Kuma 3 applies a policy only if its targetRef is
// of kind Mesh or Dataplane.
func (s Semantics) appendKumaTarget(facts []Fact, p *resource.Policy) []Fact {
	t := &p.TargetRef
	if t.Kind != resource.TargetDataplane {
		switch {
		case t.Kind == resource.TargetMesh && s == Kuma3: // proxyTypes are not read
			return facts
		case s == Kuma3:
			return append(facts, Fact{Space: Never})
		case t.Kind == resource.TargetMeshGateway:
			return appendGateway(facts, t)
		}
		facts = appendTarget(facts, t)
		if t.Namespace != "" {
			facts = append(facts, Fact{Space: Namespace, Value: t.Namespace})
		}
		return facts
	}
	for _, label := range t.Labels {
		if label.Key == resource.DisplayNameLabel { // each dataplane has a display name
			facts = append(facts, Fact{Space: DisplayName, Value: label.Value})
		} else {
			facts = append(facts, Fact{LabelPair, label.Key, label.Value})
		}
	}
	if t.SectionName != "" {
		facts = append(facts, Fact{Space: SectionName, Value: t.SectionName})
	}
	switch {
	case s == Kuma3:
	case t.Name != "":
		return append(facts, Fact{Space: DisplayName, Value: t.Name},
			Fact{Space: HomeNamespace, Value: namespaceOf(p, t)}, Fact{Space: InZone, Value: p.Zone()})
	case len(t.Labels) == 0:
		facts = append(facts, Fact{Space: NotBuiltin})
	}
	return facts
}

// appendGateway appends the facts that a targetRef of kind MeshGateway requires of a
// listener: the name of its MeshGateway, and its own tags.
func appendGateway(facts []Fact, t *resource.TargetRef) []Fact {
	facts = append(facts, Fact{Space: GatewayName, Value: t.Name})
	for _, tag := range t.Tags {
		if tag.Value == resource.AnyValue {
			facts = append(facts, Fact{Space: ListenerTagKey, Key: tag.Key})
		} else {
			facts = append(facts, Fact{ListenerTag, tag.Key, tag.Value})
		}
	}
	return facts
}

// namespaceOf returns the namespace of the resource to which a policy refers by
// name.
func namespaceOf(p *resource.Policy, t *resource.TargetRef) string {
	if t.Namespace != "" {
		return t.Namespace
	}
	return p.HomeNamespace()
}

// kumaFacts yields the facts of a dataplane that only Kuma's policies require.
func kumaFacts(d *resource.Dataplane, yield func(Fact)) {
	yield(Fact{Space: DisplayName, Value: d.DisplayName()})
	yield(Fact{Space: HomeNamespace, Value: d.HomeNamespace()})
	yield(Fact{Space: InZone, Value: d.Zone()})
	if d.Origin() == resource.ZoneOrigin && d.Zone() != "" {
		yield(Fact{Space: ZoneScope, Value: d.Zone()})
	} else {
		yield(Fact{Space: ZoneScope, Value: AnyZone})
	}
	if d.Gateway == nil || !d.Gateway.Builtin {
		yield(Fact{Space: NotBuiltin})
	}
	gateway := d.Gateway != nil && (!d.Gateway.Builtin || len(d.GatewayListeners()) > 0)
	if len(d.Inbounds)+len(d.Listeners) > 0 || gateway {
		yield(Fact{Space: Serves})
	}
	if d.Gateway != nil && d.Gateway.MeshGateway != nil {
		yield(Fact{Space: GatewayName, Value: d.Gateway.MeshGateway.DisplayName()})
	}
}
