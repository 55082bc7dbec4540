package meshtrafficpermission

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is the decision of an item of `from` about its clients (SPEC 7.6).
//
//confgen:conf schema
type Conf struct {
	// Action is Deny if nothing sets it.
	Action *Action `json:"action,omitzero"`
}

// Validate reports a conf that decides nothing, which a control plane of Kuma refuses.
func (c *Conf) Validate(at *diag.At) {
	if c.Action == nil {
		at.Field("action").If(diag.AsKuma).Errorf(diag.MissingField, "write Allow or Deny", "required field is missing")
	}
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

// InKuma returns the conf as a control plane of Kuma merges it: a prefix of a SPIFFE ID is
// text. If there is no such prefix, it returns the conf itself.
func (r *RuleConf) InKuma() resource.Conf {
	next := RuleConf{Deny: conf.InKuma(r.Deny), AllowWithShadowDeny: conf.InKuma(r.AllowWithShadowDeny), Allow: conf.InKuma(r.Allow)}
	if equalRuleConf(r, &next) {
		return r
	}
	return &next
}

// Validate reports entries without conditions, which would match every request
// (SPEC 7.2), and a conf without lists, which a control plane of Kuma refuses.
func (r *RuleConf) Validate(at *diag.At) {
	if r.Deny == nil && r.AllowWithShadowDeny == nil && r.Allow == nil {
		at.If(diag.AsKuma).Errorf(diag.EmptyValue, "write allow, deny or allowWithShadowDeny", "must not be empty")
	}
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
