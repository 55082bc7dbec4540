package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// MeshGateway configures the listeners of builtin gateways.
type MeshGateway struct{ ObjectOf[specs.MeshGateway] }
