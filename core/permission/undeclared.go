package permission

import "github.com/meshmatch/meshmatch/core/rules"

// PassesUndeclared reports whether the proxy of a dataplane with transparent proxying
// passes connections to ports of the workload that no inbound declares (SPEC 11.5,
// MeshPassthrough): the dataplane has no identity, and no policy of MeshTrafficPermission
// selects it, or none is applied. The config is that of MeshTrafficPermission, which may
// be nil.
func PassesUndeclared(config *rules.Config, hasIdentity, applied bool) bool {
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
