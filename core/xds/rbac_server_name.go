package xds

import (
	"slices"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// serverNameCase is one answer to the question which SNI a client sent. The
// SNI can stand in permissions only and all the rest of an entry in principals,
// and a policy is a product of the two; so there are policies for each SNI that
// an entry asks for, and for any other one.
type serverNameCase struct {
	name       string // "": none of the names
	permission *rbacconfig.Permission
}

// serverNameCases returns the cases of an inbound's entries: one that holds for
// everybody where no entry asks for an SNI.
func serverNameCases(entries []permission.Entry) []serverNameCase {
	var names []string
	for i := range entries {
		if entries[i].Match.SNI != nil {
			names = append(names, serverName(entries[i].Match))
		}
	}
	if len(names) == 0 {
		return []serverNameCase{{permission: anyPermission()}}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var cases []serverNameCase
	var listed []*rbacconfig.Permission
	for _, name := range names {
		p := &rbacconfig.Permission{Rule: &rbacconfig.Permission_RequestedServerName{RequestedServerName: stringMatcher(text{textExact, name})}}
		cases = append(cases, serverNameCase{name, p})
		listed = append(listed, p)
	}
	other := &rbacconfig.Permission{Rule: &rbacconfig.Permission_NotRule{NotRule: orPermission(listed)}}
	return append(cases, serverNameCase{"", other})
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

// in returns what is left of a match in the case, and whether the match is
// possible there.
func (c *serverNameCase) in(m *conf.Match) (rest *conf.Match, possible bool) {
	if m.SNI == nil {
		return m, true
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
