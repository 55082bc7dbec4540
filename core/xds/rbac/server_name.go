package rbac

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
)

// serverNameCase is one answer to the question which SNI a client sent. The
// SNI can be in permissions only and all the rest of an entry in principals, and
// a policy is a product of the two; so there are policies for each SNI that an
// entry asks for, and for any SNI that no entry denies. What is allowed with any
// SNI is in the latter, and again only if an SNI is denied to some clients; what
// is denied with any SNI is in all of them. The policies of the shadow decision
// only deny, so nothing is repeated there.
type serverNameCase struct {
	name       string // "": any that is not denied
	denied     bool
	enforced   bool
	permission *serverNames
}

// serverNameCases returns the cases of an inbound's rules. If no entry asks for
// an SNI, there is one.
func serverNameCases(rules []ruleEntries, d decision) []serverNameCase {
	denied := map[string]bool{} // by each name that is asked for
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

// includes reports whether an entry is of interest in the case.
func (c *serverNameCase) includes(m *conf.Match, deny bool) bool {
	if m.SNI == nil {
		return deny && c.enforced || c.denied || c.name == ""
	}
	return c.name == lowerName(m)
}

// title returns a name that is different in each case.
func (c *serverNameCase) title(name string) string {
	if c.name == "" {
		return name
	}
	return name + " sni " + c.name
}
