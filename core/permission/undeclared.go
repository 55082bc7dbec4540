package permission

import "github.com/meshmatch/meshmatch/core/results"

// PassesUndeclared reports whether a proxy with transparent proxying passes connections
// to ports of the workload that no inbound declares (SPEC 11.5, MeshPassthrough). It does
// if the dataplane has no identity, and no MeshTrafficPermission selects it or is
// applied. The config is the dataplane's config of MeshTrafficPermission and may be nil.
func PassesUndeclared(config *results.Config, hasIdentity, applied bool) bool {
	switch {
	case hasIdentity:
		return false
	case !applied:
		return true
	}
	if config != nil {
		for range config.Matched.All() {
			return false
		}
	}
	return true
}
