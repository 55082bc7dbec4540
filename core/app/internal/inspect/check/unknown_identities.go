package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unknownIdentities warns of entries that compare the client with a SPIFFE ID that no
// dataplane has, or with a prefix of no such ID. It assumes that identities are issued
// elsewhere if no dataplane has an identity, or if no dataplane has the trust domain and a
// MeshTrust trusts it.
func (m *meshCheck) unknownIdentities() {
	var known *identitySet
	for _, p := range m.policies {
		if p.Kind != permission.KindName {
			continue
		}
		for _, entry := range permission.EntriesOf(p) {
			if entry.Match == nil || entry.Match.SpiffeID == nil {
				continue
			}
			if known == nil {
				if known = m.identities(); len(known.ids) == 0 {
					return
				}
			}
			if m.trustsElsewhere(known, entry.Match.SpiffeID) || known.has(entry.Match.SpiffeID) {
				continue
			}
			id := entry.Match.SpiffeID
			what := "no dataplane has the identity " + id.Value
			switch id.Type {
			case conf.SpiffeIDPrefix:
				what = "no dataplane has an identity below " + id.Value
			case conf.SpiffeIDTextPrefix:
				what = "no dataplane has an identity that begins with " + id.Value
			}
			w := diag.Diagnostic{
				Code: diag.UnknownIdentity, Pos: p.Rules[entry.Rule].Pos,
				Path: fmt.Sprintf("spec.rules[%d].default.%s[%d].spiffeId", entry.Rule, entry.List, entry.Index),
				What: what, Hint: "check the identity, or give the files of the dataplanes that have it", Cause: what,
			}
			if domain := trustDomainOf(id); !known.domains[domain] {
				w.What += fmt.Sprintf(": no dataplane and no MeshTrust has the trust domain %s", domain)
				w.Hint = "give the MeshTrust or the dataplanes of that trust domain, or check the identity"
				w.Cause = "no trust domain " + domain
			}
			m.warn(w)
		}
	}
}

// trustsElsewhere reports whether the mesh trusts the trust domain of an identity, but no
// dataplane has this trust domain.
func (m *meshCheck) trustsElsewhere(known *identitySet, match *conf.SpiffeIDMatch) bool {
	domain := trustDomainOf(match)
	return !known.domains[domain] && slices.ContainsFunc(m.view.Trusts(m.mesh), func(t *resource.MeshTrust) bool {
		return string(t.Spec.TrustDomain) == domain
	})
}

func trustDomainOf(match *conf.SpiffeIDMatch) string {
	domain, _, _ := strings.Cut(strings.TrimPrefix(match.Value, "spiffe://"), "/")
	return domain
}

// identitySet contains the SPIFFE IDs of the dataplanes of all meshes, because
// dataplanes may be clients of other meshes.
type identitySet struct {
	ids     map[string]bool
	domains map[string]bool
	below   map[string]bool // the answers for prefixes
}

func newIdentitySet(view *core.View) *identitySet {
	s := &identitySet{ids: map[string]bool{}, domains: map[string]bool{}, below: map[string]bool{}}
	for _, mesh := range view.Meshes() {
		identities := view.Identities(mesh)
		for _, d := range view.Dataplanes(mesh) {
			if id, err := identities.IdentityOf(d); err == nil && id != nil { // an error has a separate warning
				s.ids[id.SPIFFEID] = true
				s.domains[id.TrustDomain] = true
			}
		}
	}
	return s
}

// has reports whether a dataplane has such an identity.
func (s *identitySet) has(match *conf.SpiffeIDMatch) bool {
	if !match.Type.IsPrefix() {
		return s.ids[match.Value]
	}
	found, known := s.below[match.Value]
	if !known {
		for id := range s.ids {
			found = found || request.SpiffeIDMatches(match, id)
		}
		s.below[match.Value] = found
	}
	return found
}
