package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// MeshOpenTelemetryBackend is an OpenTelemetry collector. Policies refer to it by
// its labels.
type MeshOpenTelemetryBackend struct {
	ObjectOf[specs.MeshOpenTelemetryBackend]
}
