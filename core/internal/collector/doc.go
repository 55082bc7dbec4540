// Package collector finds the collectors of telemetry to which policies refer (SPEC 17.3).
//
// [New] makes the [Directory] of the MeshOpenTelemetryBackends of a mesh, and [Directory.Find] returns
// the [Collector] of a reference. A Directory is immutable and safe for concurrent use. A nil Directory
// is empty.
package collector
