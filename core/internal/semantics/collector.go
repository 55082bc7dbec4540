package semantics

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// FindsCollector reports whether the reference of a policy finds a
// MeshOpenTelemetryBackend of its mesh (SPEC 17.3). Neither the zone nor the namespace of
// the policy matters.
func (s Semantics) FindsCollector(ref *conf.CollectorRef, backend *resource.Meta) bool {
	if ref.Name == nil {
		return backend.HasLabels(resource.NewTags(ref.Labels))
	}
	return s != Kuma3 && s.ReferenceName(backend) == *ref.Name
}
