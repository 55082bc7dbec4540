// Package sds makes the secrets of dataplanes with a Bundled identity (SPEC 11.6). The
// server signs their certificates. The secret "identity" has a certificate with its key.
// The secret "trust" has the CA certificates that verify other dataplanes.
//
//  1. [Issuer.SecretsAt] reads the authorities of a view and makes the trust of each mesh
//     (trust.go).
//  2. [Secrets.IssuedFor] returns the secrets of one dataplane. A certificate is signed at
//     the first call for it, so a dataplane that is not connected costs nothing.
//  3. When certificates are due for renewal, or when the files of a CA have changed,
//     [Issuer.SecretsAt] returns new [Secrets] for the same view.
//
// Invariants: while [Issuer.SecretsAt] returns the same pointer, a dataplane's secrets are
// the same pointers. A returned certificate is not due for renewal at the time of its
// Secrets.
package sds
