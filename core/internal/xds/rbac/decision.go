package rbac

import (
	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// decision is one of the two decisions of an inbound.
type decision uint8

const (
	enforced decision = iota
	shadow            // denies by allowWithShadowDeny only (SPEC 7.4)
)

// denies reports whether the entries of a list deny in this decision.
func (d decision) denies(l permission.List) bool {
	if d == shadow {
		return l == permission.AllowWithShadowDeny
	}
	return l == permission.Deny
}

// allows reports whether the entries of a list allow in this decision.
func (d decision) allows(l permission.List) bool {
	return d == enforced && l != permission.Deny
}

// clientAllowed reports whether a `from` item with the action allows in this decision.
func (d decision) clientAllowed(a meshtrafficpermission.Action) bool {
	if d == shadow {
		return a != meshtrafficpermission.AllowWithShadowDeny
	}
	return a != meshtrafficpermission.Deny
}

// byDefault is the action if nothing matches.
func (d decision) byDefault() action { return action{policy: defaultPolicy, deny: d == enforced} }

// defaultPolicy is the name of the action if nothing matches (SPEC 7.4).
const defaultPolicy = "default"

// action is the result of a matcher: to deny or to allow in a policy's name, or the action
// of an extension.
type action struct {
	policy    string
	deny      bool
	extension *xdscorev3.TypedExtensionConfig // if not nil, replaces policy and deny
}

// ruleEntries are the entries of one rule that deny, or the entries that allow.
type ruleEntries struct {
	kri     string
	deny    bool
	entries []*permission.Entry // not empty
}

// inOrder returns the entries in the order in which a proxy must compare them, so that the
// first match decides: rule by rule those that deny, then those that allow (SPEC 7.4).
func inOrder(entries []permission.Entry, d decision) []ruleEntries {
	rules := 0
	for i := range entries {
		if i == 0 || entries[i].KRI != entries[i-1].KRI || entries[i].Rule != entries[i-1].Rule {
			rules++
		}
	}
	out := make([]ruleEntries, 0, 2*rules)
	pointers := make([]*permission.Entry, 0, len(entries)) // shared by all rules
	for _, deny := range [...]bool{true, false} {
		takes := d.allows
		if deny {
			takes = d.denies
		}
		for i := 0; i < len(entries); {
			first, begin := &entries[i], len(pointers)
			for ; i < len(entries) && entries[i].KRI == first.KRI && entries[i].Rule == first.Rule; i++ {
				if takes(entries[i].List) {
					pointers = append(pointers, &entries[i])
				}
			}
			if len(pointers) > begin {
				out = append(out, ruleEntries{first.KRI, deny, pointers[begin:len(pointers):len(pointers)]})
			}
		}
	}
	return out
}
