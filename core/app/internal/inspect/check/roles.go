package check

import "github.com/meshmatch/meshmatch/core/diag"

// mixedRoles warns of policies with `to` items of different roles, which a control plane
// refuses (SPEC 17.1).
func (m *meshCheck) mixedRoles() []diag.Diagnostic {
	var warnings []diag.Diagnostic
	for _, p := range m.policies {
		if m.view.Semantics().MixesRoles(p) {
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.MixedRoles, Pos: p.Pos, Path: "spec.to",
				What: "items for services of the policy's namespace, and others: Kuma refuses the policy; here it is a consumer policy",
				Hint: "write a policy for each",
			})
		}
	}
	return warnings
}
