package resource

// Role is the part of a policy in Kuma: who wrote it, and for whom. The constants are
// in the order in which policies override each other, lowest priority first.
type Role uint8

// The roles.
const (
	// SystemRole is for all dataplanes: the operator wrote the policy.
	SystemRole Role = iota
	// ProducerRole is for the clients of a service in the policy's namespace.
	ProducerRole
	// ConsumerRole is for outbounds of the dataplanes of the policy's namespace.
	ConsumerRole
	// WorkloadOwnerRole is for the dataplanes of the policy's namespace themselves.
	WorkloadOwnerRole
)

var roleNames = [...]string{"system", "producer", "consumer", "workload-owner"}

// String returns the value of the label kuma.io/policy-role.
func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role that a value of the label kuma.io/policy-role names.
func ParseRole(word string) (Role, bool) {
	for i, name := range roleNames {
		if name == word {
			return Role(i), true
		}
	}
	return SystemRole, false
}

// Role returns the role of the policy. It is that of the label kuma.io/policy-role.
// Without one it is [SystemRole], except for a policy with a namespace, which is one
// of Kubernetes: there the control plane derives the role from the namespace and the
// `to` items, as Role does. It returns false for a label with another word, and if the
// items are of different roles, which Kuma refuses.
//
// In Kuma 3 references have labels only, so that other items are those of a producer:
// see [TargetRef.isProducer].
func (p *Policy) Role(labelsOnly bool) (Role, bool) {
	if word, present := p.Labels.Get(PolicyRoleLabel); present {
		return ParseRole(word)
	}
	switch {
	case p.Namespace == "" || p.Namespace == SystemNamespace:
		return SystemRole, true
	case len(p.To)+len(p.Gateway) == 0:
		return WorkloadOwnerRole, true
	}
	if p.Gateway != nil { // its items are of kind Mesh
		return ConsumerRole, true
	}
	producers := 0
	for i := range p.To {
		if p.To[i].TargetRef.isProducer(p.Namespace, labelsOnly) {
			producers++
		}
	}
	switch producers {
	case 0:
		return ConsumerRole, true
	case len(p.To):
		return ProducerRole, true
	}
	return ConsumerRole, false
}

// isProducer reports whether a `to` item of a policy of the namespace is that of a
// producer: it refers to a MeshService or a MeshHTTPRoute of its own namespace, in
// Kuma 2 by name, and in Kuma 3 by the label of its display name, with at most that of
// the namespace.
func (t *TargetRef) isProducer(namespace string, labelsOnly bool) bool {
	if t.Kind != TargetMeshService && t.Kind != TargetMeshHTTPRoute {
		return false
	}
	if !labelsOnly {
		return t.Name != "" && (t.Namespace == "" || t.Namespace == namespace)
	}
	named := false
	for _, label := range t.Labels {
		switch {
		case label.Key == DisplayNameLabel:
			named = true
		case label.Key != NamespaceLabel || label.Value != namespace:
			return false
		}
	}
	return named && t.Name == ""
}
