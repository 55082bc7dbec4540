package xds

import (
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshmatch/meshmatch/core/permission"
)

// entryRules returns the rules form of one decision: a client is let in if one
// of the policies holds, each of which allows what the rules of one
// MeshTrafficPermission allow and excludes what any rule denies. It is named by
// that one's KRI.
func entryRules(entries []permission.Entry, v view) *rbacconfig.RBAC {
	out := &rbacconfig.RBAC{Action: rbacconfig.RBAC_ALLOW, Policies: map[string]*rbacconfig.Policy{}}
	rules := inOrder(entries, v)
	for _, c := range serverNameCases(rules) {
		addPolicies(out.Policies, rules, &c)
	}
	return out
}

// addPolicies adds the policies of one case.
func addPolicies(policies map[string]*rbacconfig.Policy, rules []ruleEntries, c *serverNameCase) {
	var p principals
	var denied []*rbacconfig.Principal
	var allowed []allowedBy
	for _, r := range rules {
		var alternatives []*rbacconfig.Principal
		for _, e := range r.entries {
			m, relevant := c.in(e.Match, r.deny)
			switch {
			case !relevant:
			case !m.Empty():
				alternatives = appendMatch(alternatives, p, m)
			case r.deny:
				return // everyone is denied
			default:
				alternatives = append(alternatives, anyPrincipal())
			}
		}
		switch last := len(allowed) - 1; {
		case len(alternatives) == 0:
		case r.deny:
			denied = append(denied, alternatives...)
		case last >= 0 && allowed[last].kri == r.kri:
			allowed[last].principals = append(allowed[last].principals, alternatives...)
		default:
			allowed = append(allowed, allowedBy{r.kri, alternatives})
		}
	}
	if len(allowed)*len(denied) > maxExclusions {
		allowed = together(allowed)
	}
	for _, a := range allowed {
		policies[c.title(a.kri)] = &rbacconfig.Policy{
			Permissions: []*rbacconfig.Permission{c.permission},
			Principals:  excluding(a.principals, denied),
		}
	}
}

// allowedBy is who is let in by one MeshTrafficPermission.
type allowedBy struct {
	kri        string
	principals []*rbacconfig.Principal
}

// maxExclusions bounds how many principals repeat what is denied: every policy
// has to.
const maxExclusions = 1_000

// allPolicies is the name of the one policy that stands for all where each by
// itself would be too much.
const allPolicies = "all"

func together(allowed []allowedBy) []allowedBy {
	all := allowedBy{kri: allPolicies}
	for _, a := range allowed {
		all.principals = append(all.principals, a.principals...)
	}
	return []allowedBy{all}
}

// excluding returns principals, of which one has to hold, that hold for those
// allowed and not denied.
func excluding(allowed, denied []*rbacconfig.Principal) []*rbacconfig.Principal {
	if len(denied) == 0 {
		return allowed
	}
	var p principals
	return []*rbacconfig.Principal{p.all([]*rbacconfig.Principal{
		anyOf(p, allowed),
		p.not(anyOf(p, denied)),
	})}
}
