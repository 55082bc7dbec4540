// Package streams has clients of delta ADS that cost little, for measurements with very many of
// them.
//
// A [DeltaStream] is one stream. It asks as an Envoy does: clusters and listeners by wildcard, the rest
// by name. It ACKs each response, and keeps a hash of each resource that it holds instead of the
// resource. [DeltaStream.Sum] is a hash of all of them, and [SumOf] is the same hash of a snapshot. So
// a client has exactly the resources of a snapshot if both are equal.
package streams
