// Package identity evaluates MeshIdentities: it returns the SPIFFE ID of a
// dataplane (SPEC 11.6).
//
//  1. [New] parses the templates of all identities once.
//  2. [Identities.Of] chooses the identity that selects a dataplane with the
//     most labels, and expands its templates.
//
// Invariants: an [Identities] is immutable; the result does not depend on the
// order of the identities; a SPIFFE ID that is returned is valid.
//
// It does not know policies or certificates: package ca issues those.
package identity
