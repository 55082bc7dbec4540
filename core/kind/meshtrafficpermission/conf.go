package meshtrafficpermission

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is the decision of an item of `from` about its clients (SPEC 7.6).
//
//confgen:conf schema
type Conf struct {
	// Action is Deny if nothing sets it.
	Action *Action `json:"action,omitzero"`
}

// RuleConf contains the decisions of a rule; each entry decides the requests that
// it matches. An effective configuration never merges the lists of two rules:
// every rule remains separate, with its policy (SPEC 7.3).
//
//confgen:conf schema
//confgen:openapi {"allOf": [{"properties": {"deny": {"items": {"minProperties": 1}}, "allowWithShadowDeny": {"items": {"minProperties": 1}}, "allow": {"items": {"minProperties": 1}}}}]}
type RuleConf struct {
	Deny                []conf.Match `json:"deny,omitzero" policyMerge:"concat"`
	AllowWithShadowDeny []conf.Match `json:"allowWithShadowDeny,omitzero" policyMerge:"concat"`
	Allow               []conf.Match `json:"allow,omitzero" policyMerge:"concat"`
}

// Validate reports entries without conditions, which would match every request
// (SPEC 7.2).
func (r *RuleConf) Validate(at *diag.At) {
	for _, list := range []struct {
		field   string
		entries []conf.Match
	}{{"deny", r.Deny}, {"allowWithShadowDeny", r.AllowWithShadowDeny}, {"allow", r.Allow}} {
		for i := range list.entries {
			if list.entries[i].Empty() {
				at.Field(list.field).Index(i).Errorf(diag.EmptyMatch, "give spiffeId, sni, path, method or headers", "an empty match is not allowed in a permission list")
			}
		}
	}
}
