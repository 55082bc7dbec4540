package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// prefixesOfText warns of prefixes of SPIFFE IDs that are compared as text. Such a prefix may
// match an identity of the input, or a trust domain of a MeshTrust, that is not below it (SPEC
// 7.2). In the semantics of Kuma all prefixes are text.
func (m *meshCheck) prefixesOfText() {
	var known []string // sorted
	for _, p := range m.policies {
		if p.Kind != permission.KindName {
			continue
		}
		for _, entry := range permission.EntriesOf(p) {
			if entry.Match == nil || entry.Match.SpiffeID == nil || entry.Match.SpiffeID.Type != conf.SpiffeIDTextPrefix {
				continue
			}
			if known == nil {
				known = m.knownClients()
			}
			prefix := entry.Match.SpiffeID.Value
			matched := onlyAsText(known, prefix)
			if len(matched) == 0 {
				continue
			}
			example := matched[0]
			if more := len(matched) - 1; more > 0 {
				example += " and " + diag.Count(more, "other")
			}
			m.warn(diag.Diagnostic{
				Code: diag.PrefixOfText, Pos: p.Rules[entry.Rule].Pos,
				Path: fmt.Sprintf("spec.rules[%d].default.%s[%d].spiffeId", entry.Rule, entry.List, entry.Index),
				What: fmt.Sprintf("the prefix %s is compared as text: it also matches %s", prefix, example),
				Hint: "write an entry of type Exact for each identity that is meant",
			})
		}
	}
}

// knownClients returns the SPIFFE IDs of the dataplanes of all meshes and the trust domains that
// the mesh trusts, sorted.
func (m *meshCheck) knownClients() []string {
	known := maps.Clone(m.identities().ids)
	for _, trust := range m.view.Trusts(m.mesh) {
		known["spiffe://"+string(trust.Spec.TrustDomain)] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// onlyAsText returns the sorted texts that begin with a prefix and are not below it.
func onlyAsText(known []string, prefix string) (matched []string) {
	first, _ := slices.BinarySearch(known, prefix)
	for _, id := range known[first:] {
		if !strings.HasPrefix(id, prefix) {
			break
		}
		if !request.IsBelow(request.TrimSlash(prefix), id) {
			matched = append(matched, id)
		}
	}
	return matched
}
