// Package sds makes the secrets of dataplanes whose certificates the server signs,
// those with a Bundled identity (SPEC 11.6): the secret "identity", a certificate with
// its key, and the secret "trust", which certificates of other dataplanes are verified
// with.
//
//  1. [Issuer.At] reads the authorities of a view and makes the trust of each mesh
//     (trust.go).
//  2. [Secrets.Of] returns the secrets of one dataplane. A certificate is signed when
//     it is asked for first, so a dataplane that is not connected costs nothing.
//  3. When certificates are due for renewal, or the files of a CA changed,
//     [Issuer.At] returns other [Secrets] for the same view.
//
// Invariants: while [Issuer.At] returns the same pointer, a dataplane's secrets are
// the same pointers; a certificate that is returned is not due for renewal at the time
// of its Secrets.
package sds
