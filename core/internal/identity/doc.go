// Package identity evaluates MeshIdentities: it returns the SPIFFE ID of a
// dataplane (SPEC 11.6).
//
//  1. [New] parses the templates of all identities once.
//  2. [Identities.IdentityOf] chooses, among the identities that select a dataplane,
//     the one with the most labels, and expands its templates.
//
// Invariants: an [Identities] is immutable; the result does not depend on the
// order of the identities; every returned SPIFFE ID is valid.
//
// It does not depend on policies or certificates; package ca issues
// certificates.
package identity
