package destination

import "github.com/meshmatch/meshmatch/core/resource"

// MeshServicesOf returns the MeshServices of a MeshMultiZoneService, sorted by identity
// (SPEC 17.4).
func (s *Directory) MeshServicesOf(m *resource.MeshMultiZoneService) (list []*resource.MeshService) {
	for _, d := range s.all {
		if service, is := d.(*resource.MeshService); is && s.semantics.JoinsService(m, service) {
			list = append(list, service)
		}
	}
	return list
}
