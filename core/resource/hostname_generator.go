package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// HostnameGenerator generates host names for the destinations that it selects. The
// control plane writes them to the status of a destination; see [DestinationStatus].
type HostnameGenerator struct {
	ObjectOf[specs.HostnameGenerator]
}
