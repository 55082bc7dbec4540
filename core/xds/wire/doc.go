// Package wire defines what an xDS server sends: resources of a [Type], by name and
// version, as bytes (SPEC 11.4), and the variants of a name (SPEC 9).
//
// A resource is marshalled once for all dataplanes that get it.
// Everything here is immutable and safe for concurrent use.
//
// The package does not know the messages of Envoy: a body is opaque. It imports nothing
// of this module, so a server that needs only this package depends on no policy.
package wire
