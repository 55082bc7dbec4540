package resource

import "github.com/meshmatch/meshmatch/core/resource/specs"

// MeshGateway configures the listeners of builtin gateways.
type MeshGateway struct{ ObjectOf[specs.MeshGateway] }
