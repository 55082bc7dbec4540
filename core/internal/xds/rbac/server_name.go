package rbac

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
)

// serverNameCase is one case of the SNI that a client sent. In the rules form the SNI can
// only be in permissions, and the rest of an entry only in principals. A policy is the
// product of the two. So there are policies for each SNI that an entry asks for, and for
// any SNI that no entry denies. What is allowed with any SNI is in the latter; it is
// repeated for an SNI only if that SNI is denied to some clients. What is denied with any
// SNI is in all of them. The policies of the shadow decision only deny, so there nothing
// is repeated.
type serverNameCase struct {
	name       string // "": any SNI that is not denied
	denied     bool
	enforced   bool
	permission *serverNames
}

// serverNameCases returns the cases of an inbound's rules. There is one case if no entry
// asks for an SNI.
func serverNameCases(rules []ruleEntries, d decision) []serverNameCase {
	denied := map[string]bool{} // whether an entry denies, by each name in a condition
	for _, r := range rules {
		for _, e := range r.entries {
			if e.Match.SNI != nil {
				name := lowerName(e.Match)
				denied[name] = denied[name] || r.deny && d == enforced
			}
		}
	}
	var cases []serverNameCase
	rest := &serverNames{other: true}
	for _, name := range slices.Sorted(maps.Keys(denied)) {
		cases = append(cases, serverNameCase{name, denied[name], d == enforced, &serverNames{names: []string{name}}})
		if denied[name] {
			rest.names = append(rest.names, name)
		}
	}
	return append(cases, serverNameCase{enforced: d == enforced, permission: rest})
}

// includes reports whether the policies of the case need an entry.
func (c *serverNameCase) includes(m *conf.Match, deny bool) bool {
	if m.SNI == nil {
		return deny && c.enforced || c.denied || c.name == ""
	}
	return c.name == lowerName(m)
}

// title returns a name for a policy that differs between cases.
func (c *serverNameCase) title(name string) string {
	if c.name == "" {
		return name
	}
	return name + " sni " + c.name
}
