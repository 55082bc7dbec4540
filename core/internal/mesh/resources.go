package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// resources are the resources of a mesh that take no part in the matching of
// policies. A change of them touches no class and no profile. It is immutable.
type resources struct {
	document *resource.Mesh // nil: none
	objects  Objects
	// identities are the MeshIdentities among the objects, ready to be evaluated; nil: none.
	// A version in which none of them is edited has the same pointer.
	identities *identity.Identities
	trusts     []*resource.MeshTrust // those among the objects
	// destinations are those among the objects; a version with other objects, or with
	// another document, has others.
	destinations *destinations
	// collectors are the MeshOpenTelemetryBackends among the objects; a version in which one
	// of them is another object has others.
	collectors *collector.Directory
	// proxies completes dataplanes, by the document and the objects. Only the writer uses
	// it; nil: no dataplane needs it.
	proxies *semantics.Proxies
}

// after returns the resources after a batch: r itself if the batch changes
// nothing, and otherwise a version that shares with r what it does not change.
func (r *resources) after(b *Batch, by semantics.Semantics) *resources {
	next := *r
	if d := b.Document; d.ID != nil && differs(r.document, d.Resource, repeatsMesh) {
		next.document = d.Resource
	}
	var edited []string
	next.objects, edited = r.objects.After(b.Objects)
	if len(edited) == 0 && next.document == r.document {
		return r
	}
	if slices.Contains(edited, resource.MeshIdentityKind) {
		next.identities = nil
		if list := resource.ObjectsOf[*resource.MeshIdentity](next.objects); len(list) > 0 {
			next.identities = identity.New(list, by.IdentityDefaults())
		}
	}
	if slices.Contains(edited, resource.MeshTrustKind) {
		next.trusts = resource.ObjectsOf[*resource.MeshTrust](next.objects)
	}
	if slices.Contains(edited, resource.MeshOpenTelemetryBackendKind) {
		if collectors := collector.New(by, next.objects); !collectors.Equal(r.collectors) {
			next.collectors = collectors
		}
	}
	others := slices.ContainsFunc(edited, func(kind string) bool { return kind != resource.MeshIdentityKind && kind != resource.MeshTrustKind })
	sameSecrets := next.identities == r.identities || slices.Equal(destination.ReservedSecrets(r.identities.All()), destination.ReservedSecrets(next.identities.All()))
	if others || next.document != r.document || !sameSecrets {
		next.destinations = new(destinations)
		if proxies := by.Proxies(next.document, next.objects); !proxies.Equal(r.proxies) {
			next.proxies = proxies
		}
	}
	return new(next)
}

// addTo adds the resources to the edits of an empty mesh.
func (r *resources) addTo(b *Batch) {
	if r.document != nil {
		b.Document = Upsert(r.document)
	}
	b.Objects = editsOf(r.objects)
}
