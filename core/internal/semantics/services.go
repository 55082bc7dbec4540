package semantics

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// SelectsByTags reports whether service tags have a meaning: a MeshService may select
// dataplanes by tags, and a backend of a route may be a service by its tag (SPEC 17.4).
func (s Semantics) SelectsByTags() bool { return s != Kuma3 }

// ServiceTLS determines to which dataplanes of a MeshService a proxy with an identity
// connects by TLS.
type ServiceTLS uint8

// The values.
const (
	TLSByEndpoint ServiceTLS = iota // dataplanes that have an identity
	AlwaysTLS                       // all
	NeverTLS                        // none
)

// ServiceTLS returns to which dataplanes of a MeshService proxies connect by TLS
// (SPEC 17.4). Ready is the readiness in the status of the MeshService.
func (s Semantics) ServiceTLS(ready bool) ServiceTLS {
	if s == Kuma3 && !ready {
		return NeverTLS
	}
	return s.MultiZoneTLS()
}

// SPIFFEIDs returns the SPIFFE IDs of the `identities` of a MeshService, sorted.
func (s Semantics) SPIFFEIDs(service *resource.MeshService) []string {
	var ids []string
	for _, id := range service.Spec.Identities {
		switch {
		case id.Type == specs.SpiffeIDIdentity:
			ids = append(ids, id.Value)
		case s.SelectsByTags():
			ids = append(ids, "spiffe://"+service.Mesh+"/"+id.Value)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// ComparedTags returns what affinity tags, host selection and the listener tags of patches
// are compared with, of an inbound or a listener with the given tags: its tags or, in Kuma
// 3, the labels of its dataplane.
func (s Semantics) ComparedTags(d *resource.Dataplane, tags resource.Tags) resource.Tags {
	if s.SelectsByTags() {
		return tags
	}
	return d.Labels
}
