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
	// identities are the MeshIdentities, ready to be evaluated; nil: none.
	identities *identity.Identities
	trusts     []*resource.MeshTrust // sorted by identity
	objects    Objects
	// destinations are those among the objects; a version with other objects, or with
	// another document, has others.
	destinations *destinations
	// collectors are the MeshOpenTelemetryBackends among the objects; a version in which one
	// of them is another object has others.
	collectors *collector.Set
	// proxies completes dataplanes, by the document and the objects. Only the writer uses
	// it; nil: no dataplane needs it.
	proxies *semantics.Proxies
}

// empty reports whether there are no resources.
func (r *resources) empty() bool {
	return r.document == nil && r.identities == nil && len(r.trusts) == 0 && len(r.objects) == 0
}

// after returns the resources after a batch: r itself if the batch changes
// nothing, and otherwise a version that shares with r what it does not change.
func (r *resources) after(b *Batch, by semantics.Semantics) *resources {
	next := *r
	if d := b.Document; d.ID != nil && differs(r.document, d.Resource, repeatsMesh) {
		next.document = d.Resource
	}
	if list, changed := replaceAll(r.identities.All(), b.Identities, repeatsIdentity); changed {
		if next.identities = nil; len(list) > 0 {
			next.identities = identity.New(list, by.IdentityDefaults())
		}
	}
	trusts, changed := replaceAll(r.trusts, b.Trusts, repeatsTrust)
	if changed {
		next.trusts = trusts
	}
	objects, differ := r.objects.After(b.Objects)
	if next.objects = objects; differ {
		changed = true
	}
	if !changed && next.document == r.document && next.identities == r.identities {
		return r
	}
	if differ && slices.ContainsFunc(b.Objects, func(e Edit[resource.Object]) bool { return e.ID.Kind == resource.MeshOpenTelemetryBackendKind }) {
		if collectors := collector.New(by, next.objects); !collectors.Equal(r.collectors) {
			next.collectors = collectors
		}
	}
	sameSecrets := next.identities == r.identities || slices.Equal(destination.ReservedSecrets(r.identities.All()), destination.ReservedSecrets(next.identities.All()))
	if differ || next.document != r.document || !sameSecrets {
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
	b.Identities, b.Trusts = editsOf(r.identities.All()), editsOf(r.trusts)
	b.Objects = editsOf(r.objects)
}

// replaceAll returns a list after edits, and whether they change it; the list
// itself is not changed. It is sorted by identity.
func replaceAll[T any, P interface {
	*T
	Compare(resource.ID) int
}](list []P, edits []Edit[P], repeats func(known, next *T) bool) (next []P, changed bool) {
	next = list
	for _, e := range edits {
		at, found := slices.BinarySearchFunc(next, *e.ID, P.Compare)
		var known P
		if found {
			known = next[at]
		}
		if !differs(known, e.Resource, repeats) {
			continue
		}
		if !changed {
			next, changed = slices.Clone(list), true
		}
		switch {
		case e.Resource == nil:
			next = slices.Delete(next, at, at+1)
		case found:
			next[at] = e.Resource
		default:
			next = slices.Insert(next, at, e.Resource)
		}
	}
	return next, changed
}
