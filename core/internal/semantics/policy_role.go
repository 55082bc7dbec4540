package semantics

import "github.com/meshmatch/meshmatch/core/resource"

// Role is the role of a policy in Kuma: its author and the dataplanes for which it is
// meant. The constants are in the order in which policies override each other, lowest
// priority first.
type Role uint8

// The roles.
const (
	// SystemRole is the role of the operator's policies, for all dataplanes.
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

// parseRole returns the role that a value of the label kuma.io/policy-role names.
func parseRole(word string) (Role, bool) {
	for i, name := range roleNames {
		if name == word {
			return Role(i), true
		}
	}
	return SystemRole, false
}

// RoleOf returns the role of a policy. The label kuma.io/policy-role determines it.
// Without the label the role is [SystemRole], except for a policy with a namespace,
// which comes from Kubernetes: like the control plane, RoleOf derives the role of such a
// policy from the namespace and the `to` items. It returns false if the label has an
// unknown value, and if the items have different roles, which Kuma refuses.
//
// labelsOnly is for Kuma 3, where references have only labels; see
// isProducer for the items of a producer.
func RoleOf(p *resource.Policy, labelsOnly bool) (Role, bool) {
	if word, present := p.Labels.Get(resource.PolicyRoleLabel); present {
		return parseRole(word)
	}
	switch {
	case p.Namespace == "" || p.Namespace == resource.SystemNamespace:
		return SystemRole, true
	case len(p.To)+len(p.Gateway) == 0:
		return WorkloadOwnerRole, true
	}
	if p.Gateway != nil { // all its items are of kind Mesh
		return ConsumerRole, true
	}
	producers := 0
	for i := range p.To {
		if isProducer(&p.To[i].TargetRef, p.Namespace, labelsOnly) {
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

// isProducer reports whether a `to` item of a policy in the namespace has the role of
// a producer: it refers to a MeshService or a MeshHTTPRoute of its own namespace. In
// Kuma 2 it refers by name. In Kuma 3 it refers by the label of the display name, with
// at most the label of the namespace in addition.
func isProducer(t *resource.TargetRef, namespace string, labelsOnly bool) bool {
	if t.Kind != resource.TargetMeshService && t.Kind != resource.TargetMeshHTTPRoute {
		return false
	}
	if !labelsOnly {
		return t.Name != "" && (t.Namespace == "" || t.Namespace == namespace)
	}
	named := false
	for _, label := range t.Labels {
		switch {
		case label.Key == resource.DisplayNameLabel:
			named = true
		case label.Key != resource.NamespaceLabel || label.Value != namespace:
			return false
		}
	}
	return named && t.Name == ""
}
