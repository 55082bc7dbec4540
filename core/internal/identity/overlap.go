package identity

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// An Overlap is a trust domain that several meshes share. A SPIFFE ID of this trust
// domain does not identify the mesh of its owner (SPEC 12.1).
type Overlap struct {
	TrustDomain string
	Sources     []*resource.MeshIdentity // one for each mesh, by mesh
}

// Overlaps returns the sorted trust domains that MeshIdentities of several meshes share,
// whether or not these select a dataplane. Trust domains that depend on the dataplane
// are expanded for the given dataplanes.
func Overlaps(all []*resource.MeshIdentity, defaults Defaults, dataplanes func(mesh string) []*resource.Dataplane) []Overlap {
	byDomain := map[string]map[string]*resource.MeshIdentity{} // then by mesh
	add := func(domain string, source *resource.MeshIdentity) {
		if byDomain[domain] == nil {
			byDomain[domain] = map[string]*resource.MeshIdentity{}
		}
		if byDomain[domain][source.Mesh] == nil {
			byDomain[domain][source.Mesh] = source
		}
	}
	meshes := map[string]bool{}
	for _, source := range all {
		meshes[source.Mesh] = true
	}
	if len(meshes) < 2 {
		return nil
	}
	ids := New(all, defaults)
	varying := map[string]bool{} // meshes
	for _, source := range ids.All() {
		if domain, fixed := ids.TrustDomain(source); fixed {
			add(domain, source)
		} else {
			varying[source.Mesh] = true
		}
	}
	for mesh := range varying {
		for _, d := range dataplanes(mesh) {
			if own, err := ids.IdentityOf(d); err == nil && own != nil {
				add(own.TrustDomain, own.Source)
			}
		}
	}
	var overlaps []Overlap
	for _, domain := range slices.Sorted(maps.Keys(byDomain)) {
		if sources := byDomain[domain]; len(sources) > 1 {
			o := Overlap{TrustDomain: domain}
			for _, mesh := range slices.Sorted(maps.Keys(sources)) {
				o.Sources = append(o.Sources, sources[mesh])
			}
			overlaps = append(overlaps, o)
		}
	}
	return overlaps
}
