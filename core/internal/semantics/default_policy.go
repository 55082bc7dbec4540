package semantics

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// DefaultPolicies returns the sorted identities, without namespaces, of the policies that
// a control plane creates with a mesh (SPEC 17.5). Document is the document of the mesh,
// which may name kinds that are not created; it may be nil.
func (s Semantics) DefaultPolicies(mesh string, document *resource.Mesh) []resource.ID {
	if !s.isKuma() {
		return nil
	}
	timeouts := defaultPolicy{"MeshTimeout", "mesh-gateways-timeout-all"}
	if s == Kuma3 {
		timeouts.prefix = "mesh-timeout-to-all"
	}
	var ids []resource.ID
	for _, p := range []defaultPolicy{
		{"MeshTimeout", "mesh-timeout-all"}, timeouts,
		{"MeshCircuitBreaker", "mesh-circuit-breaker-all"}, {"MeshRetry", "mesh-retry-all"},
	} {
		if document == nil || !slices.ContainsFunc(document.Spec.SkipCreatingInitialPolicies, func(kind string) bool { return kind == "*" || kind == p.kind }) {
			ids = append(ids, resource.ID{Kind: p.kind, Mesh: mesh, Name: p.prefix + "-" + mesh})
		}
	}
	slices.SortFunc(ids, resource.ID.Compare)
	return ids
}

// defaultPolicy is a kind, and the prefix of the policy's name before the name
// of the mesh.
type defaultPolicy struct{ kind, prefix string }
