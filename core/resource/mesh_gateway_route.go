package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// MeshGatewayRoute contains routes of builtin gateways.
type MeshGatewayRoute struct {
	ObjectOf[specs.MeshGatewayRoute]
}
