package webhook

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
)

// madeInZones are the kinds of objects, next to policies and dataplanes, to which the control
// plane of a zone adds the labels of its zone. Others exist at the global control plane alone.
var madeInZones = map[string]bool{
	resource.MeshServiceKind: true, resource.MeshExternalServiceKind: true, resource.HostnameGeneratorKind: true,
	resource.MeshOpenTelemetryBackendKind: true, resource.WorkloadKind: true,
	resource.MeshIdentityKind: true, resource.MeshTrustKind: true,
}

// labelled yields the resources to which control planes add labels.
func labelled(set *resource.Set) iter.Seq[*resource.Meta] {
	return func(yield func(*resource.Meta) bool) {
		for _, p := range set.Policies {
			if !yield(&p.Meta) {
				return
			}
		}
		for _, d := range set.Dataplanes {
			if !yield(&d.Meta) {
				return
			}
		}
		for _, o := range set.Objects {
			if madeInZones[o.Identity().Kind] && !yield(o.Identity()) {
				return
			}
		}
	}
}
