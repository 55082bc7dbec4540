package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// defaultPolicies warns of the policies that a new mesh has but this one lacks. They have
// an effect only if they are in the input (SPEC 17.5).
func (m *meshCheck) defaultPolicies() {
	document := m.view.Mesh(m.mesh)
	lacks := lists.Filter(m.view.Semantics().DefaultPolicies(m.mesh, document), func(id resource.ID) bool {
		return !slices.ContainsFunc(m.policies, func(p *resource.Policy) bool { return isDefault(p, id) })
	})
	missing := lists.Map(lacks, func(id resource.ID) string { return id.Kind + " " + id.Name })
	if len(missing) == 0 {
		return
	}
	at := m.dataplanes[0].Pos
	if document != nil {
		at = document.Pos
	}
	m.warn(diag.Diagnostic{
		Code: diag.DefaultPolicyMissing,
		Pos:  at,
		What: fmt.Sprintf("the mesh %q lacks policies that a new mesh has: %s", m.mesh, strings.Join(missing, ", ")),
		Hint: "if the mesh has them, add them to the input, or the answers are without them",
	})
}

// isDefaultPolicy reports whether the control plane has created a policy with the mesh.
func (m *meshCheck) isDefaultPolicy(p *resource.Policy) bool {
	return slices.ContainsFunc(m.view.Semantics().DefaultPolicies(m.mesh, m.view.Mesh(m.mesh)), func(id resource.ID) bool { return isDefault(p, id) })
}

// isDefault reports whether a policy is the one that a control plane creates with that kind
// and name, or a copy of it in another zone. On Kubernetes it is in the namespace of the
// control plane; a policy of that name in another namespace is a user's.
func isDefault(p *resource.Policy, id resource.ID) bool {
	namespace := p.HomeNamespace()
	return p.Kind == id.Kind && p.DisplayName() == id.Name && (namespace == "" || namespace == resource.SystemNamespace)
}
