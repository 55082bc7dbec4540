package xds

import (
	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// view is which of the two decisions of an inbound is meant.
type view uint8

const (
	enforced view = iota
	shadow        // as if allowWithShadowDeny were deny (SPEC 7.4)
)

// denies reports whether a list's entries deny.
func (v view) denies(l permission.List) bool {
	return l == permission.Deny || v == shadow && l == permission.AllowWithShadowDeny
}

// allows reports whether a from item's action allows.
func (v view) allows(a meshtrafficpermission.Action) bool {
	return a == meshtrafficpermission.Allow || v == enforced && a == meshtrafficpermission.AllowWithShadowDeny
}

// ruleEntries is the entries of one rule that deny, or those that allow.
type ruleEntries struct {
	kri     string
	deny    bool
	entries []*permission.Entry // not empty
}

// inOrder returns the entries as a proxy must ask them: what denies, rule by
// rule, then what allows, so that the first that matches decides (SPEC 7.4).
func inOrder(entries []permission.Entry, v view) []ruleEntries {
	var out []ruleEntries
	pointers := make([]*permission.Entry, 0, len(entries)) // shared by all rules
	for _, deny := range [...]bool{true, false} {
		for i := 0; i < len(entries); {
			first, begin := &entries[i], len(pointers)
			for ; i < len(entries) && entries[i].KRI == first.KRI && entries[i].Rule == first.Rule; i++ {
				if v.denies(entries[i].List) == deny {
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
