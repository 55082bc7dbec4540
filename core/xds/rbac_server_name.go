package xds

import (
	"maps"
	"slices"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshmatch/meshmatch/core/conf"
)

// serverNameCase is one answer to the question which SNI a client sent. The
// SNI can stand in permissions only and all the rest of an entry in principals,
// and a policy is a product of the two; so there are policies for each SNI that
// an entry asks for, and for any SNI that none denies. What is allowed with any
// SNI stands in the latter, and again only where an SNI is denied to some; what
// is denied with any SNI stands in all of them.
type serverNameCase struct {
	name       string // "": any that is not denied
	denied     bool
	permission *rbacconfig.Permission
}

// serverNameCases returns the cases of an inbound's rules: one that holds for
// everybody where no entry asks for an SNI.
func serverNameCases(rules []ruleEntries) []serverNameCase {
	denied := map[string]bool{} // by each name that is asked for
	for _, r := range rules {
		for _, e := range r.entries {
			if e.Match.SNI != nil {
				name := serverName(e.Match)
				denied[name] = denied[name] || r.deny
			}
		}
	}
	var cases []serverNameCase
	var deniedNames []*rbacconfig.Permission
	for _, name := range slices.Sorted(maps.Keys(denied)) {
		p := &rbacconfig.Permission{Rule: &rbacconfig.Permission_RequestedServerName{RequestedServerName: stringMatcher(text{textExact, name})}}
		cases = append(cases, serverNameCase{name, denied[name], p})
		if denied[name] {
			deniedNames = append(deniedNames, p)
		}
	}
	rest := anyPermission()
	if len(deniedNames) > 0 {
		rest = &rbacconfig.Permission{Rule: &rbacconfig.Permission_NotRule{NotRule: orPermission(deniedNames)}}
	}
	return append(cases, serverNameCase{permission: rest})
}

func anyPermission() *rbacconfig.Permission {
	return &rbacconfig.Permission{Rule: &rbacconfig.Permission_Any{Any: true}}
}

func orPermission(ps []*rbacconfig.Permission) *rbacconfig.Permission {
	if len(ps) == 1 {
		return ps[0]
	}
	return &rbacconfig.Permission{Rule: &rbacconfig.Permission_OrRules{OrRules: &rbacconfig.Permission_Set{Rules: ps}}}
}

// in returns what is left of a match in the case, and whether the case has to
// look at it.
func (c *serverNameCase) in(m *conf.Match, deny bool) (rest *conf.Match, relevant bool) {
	if m.SNI == nil {
		return m, deny || c.denied || c.name == ""
	}
	if c.name != serverName(m) {
		return nil, false
	}
	without := *m
	without.SNI = nil
	return &without, true
}

// title tells policies of one name and several cases apart.
func (c *serverNameCase) title(name string) string {
	if c.name == "" {
		return name
	}
	return name + " sni " + c.name
}
