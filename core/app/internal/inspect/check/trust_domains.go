package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TrustDomainOverlaps returns the trust domains that several meshes of a view
// share.
func TrustDomainOverlaps(view *core.View) []identity.Overlap {
	var all []*resource.MeshIdentity
	for _, mesh := range view.Meshes() {
		for _, source := range view.Identities(mesh).All() {
			if source.Mesh == mesh {
				all = append(all, source)
			}
		}
	}
	return identity.Overlaps(all, view.Semantics().IdentityDefaults(), view.Dataplanes)
}

// overlappingTrustDomains warns of trust domains that several meshes share
// (SPEC 12.1).
func overlappingTrustDomains(view *core.View) []diag.Diagnostic {
	var warnings []diag.Diagnostic
	for _, o := range TrustDomainOverlaps(view) {
		for i, source := range o.Sources {
			other := o.Sources[(i+1)%len(o.Sources)]
			warnings = append(warnings, diag.Diagnostic{
				Code: diag.TrustDomainConflict, Pos: source.Pos, Path: "spec.spiffeID.trustDomain",
				What: fmt.Sprintf("conflict: the trust domain %q is also the trust domain of mesh %q: a SPIFFE ID does not identify the mesh of its owner", o.TrustDomain, other.Mesh),
				Hint: "give each mesh a separate trust domain; over TLS serve refuses the dataplanes of both",
			})
		}
	}
	return warnings
}
