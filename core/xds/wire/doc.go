// Package wire defines what an xDS server sends: resources of a [Type], each with a name,
// a version and its bytes (SPEC 11.4), and the variants of a name (SPEC 9).
//
//  1. [New] makes a [Resource] from a marshalled message, once for all dataplanes that
//     get it.
//  2. A [Snapshot] lists the resources of one dataplane by type.
//
// Everything here is immutable and safe for concurrent use.
//
// A body is opaque: the package does not depend on Envoy's messages. It imports nothing
// else of this module, so a server that needs only this package depends on no policy.
package wire
