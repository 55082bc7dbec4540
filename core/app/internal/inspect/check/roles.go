package check

import "github.com/meshmatch/meshmatch/core/diag"

// mixedRoles warns of policies with `to` items of different roles, which a control plane
// refuses (SPEC 17.1).
func (m *meshCheck) mixedRoles() {
	for _, p := range m.policies {
		if m.view.Semantics().MixesRoles(p) {
			m.warn(diag.Diagnostic{
				Code: diag.MixedRoles, Pos: p.Pos, Path: "spec.to",
				What: "items for services of the policy's namespace, and others: Kuma refuses the policy; here it is a consumer policy",
				Hint: "write a policy for each",
			})
		}
	}
}
