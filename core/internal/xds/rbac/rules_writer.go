package rbac

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// The fields of envoy.config.rbac.v3.RBAC and of the messages in it.
const (
	rbacAction, rbacPolicies                   = 1, 2
	policyKey, policyValue                     = 1, 2
	policyPermissions, policyPrincipals        = 1, 2
	permissionOr, permissionAny, permissionNot = 2, 3, 8
	permissionServerName                       = 9
	principalAnd, principalOr, principalAny    = 1, 2, 3
	principalAuthenticated, principalHeader    = 4, 6
	principalNot, principalURLPath             = 8, 9
	setMembers                                 = 1 // of permissions and of principals
	authenticatedName, pathMatcherPath         = 2, 1
	headerName, headerPresent, headerString    = 1, 7, 13
	re2MaxProgram, uint32Value                 = 1, 1
)

// policies are the policies of the rules form by name. Each has a permission and the
// principals that have it.
type policies map[string]*policy

type policy struct {
	permission *serverNames
	principals []*condition
}

// serverNames is a permission: the server name is one of the names or, with other, none of
// them. Without names, every server name is permitted.
type serverNames struct {
	names []string
	other bool
}

var anyPermission = &serverNames{}

// add adds a principal to the policy of a name. All principals of a policy have the same
// permission.
func (p policies) add(name string, permission *serverNames, principal *condition) {
	known := p[name]
	if known == nil {
		known = &policy{permission: permission}
		p[name] = known
	}
	known.principals = append(known.principals, principal)
}

// write writes the fields of an RBAC message. The policies of the enforced decision allow;
// the policies of the shadow decision deny.
func (p policies) write(w *writer, d decision) {
	if d == shadow {
		w.number(rbacAction, uint64(rbacconfig.RBAC_DENY))
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		w.message(rbacPolicies, func() {
			w.text(policyKey, name)
			w.message(policyValue, func() {
				w.message(policyPermissions, func() { w.permission(p[name].permission) })
				for _, c := range p[name].principals {
					w.principal(policyPrincipals, c)
				}
			})
		})
	}
}

// permission writes the fields of a Permission.
func (w *writer) permission(s *serverNames) {
	one := func(name string) { w.message(permissionServerName, func() { w.stringMatcher(text{textExact, name}) }) }
	switch {
	case len(s.names) == 0:
		w.number(permissionAny, 1)
	case s.other:
		w.message(permissionNot, func() { w.permission(&serverNames{names: s.names}) })
	case len(s.names) == 1:
		one(s.names[0])
	default:
		w.message(permissionOr, func() {
			for _, name := range s.names {
				w.message(setMembers, func() { one(name) })
			}
		})
	}
}

// principal writes a condition. Since a principal can compare headers and paths, it can
// express a whole entry except the server name, which is in the permission.
func (w *writer) principal(field protowire.Number, c *condition) {
	w.message(field, func() {
		switch c.op {
		case opCompare:
			w.principalComparison(c)
		case opNot:
			w.principal(principalNot, c.subs[0])
		case opAlways:
			w.number(principalAny, 1)
		default:
			set := protowire.Number(principalAnd)
			if c.op == opAny {
				set = principalOr
			}
			w.message(set, func() {
				for _, sub := range c.subs {
					w.principal(setMembers, sub)
				}
			})
		}
	})
}

func (w *writer) principalComparison(c *condition) {
	switch {
	case c.on.kind == clientURI:
		w.message(principalAuthenticated, func() { w.message(authenticatedName, func() { w.rulesText(c.text) }) })
	case c.on.kind == urlPath:
		w.message(principalURLPath, func() { w.message(pathMatcherPath, func() { w.rulesText(c.text) }) })
	case c.text.how == textAny:
		// A test for presence would not do: gRPC treats a header without a value as
		// absent.
		w.message(principalOr, func() {
			w.message(setMembers, func() {
				w.message(principalHeader, func() {
					w.text(headerName, c.on.header)
					w.number(headerPresent, 1)
				})
			})
			w.principal(setMembers, comparison(c.on, textExact, ""))
		})
	default:
		w.message(principalHeader, func() {
			w.text(headerName, c.on.header)
			w.message(headerString, func() { w.rulesText(c.text) })
		})
	}
}

// rulesText writes the fields of an envoy.type.matcher.v3.StringMatcher.
func (w *writer) rulesText(t text) {
	if t.how != textRegex {
		w.stringMatcher(t)
		return
	}
	w.message(stringRegex, func() {
		w.message(regexRE2, func() { w.message(re2MaxProgram, func() { w.number(uint32Value, message.MaxProgram) }) })
		w.text(regexExpression, t.value)
	})
}
