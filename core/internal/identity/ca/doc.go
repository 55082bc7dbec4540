// Package ca signs the certificates of Bundled MeshIdentities (SPEC 11.6): X.509
// SVIDs, which are certificates with a SPIFFE ID as their only name.
//
//  1. An [Authority] is the certificate and the key of a CA. [Parse] reads one from
//     PEM, [Generate] makes one.
//  2. [Authorities] returns the authority of each MeshIdentity. It reads the authority
//     from the files that the MeshIdentity names, or generates it once and saves it in
//     a directory.
//  3. [Authority.Issue] signs an [SVID] with a new key. It fills in a form that crypto/x509 made once.
//
// The caller passes the current time. Keys are ECDSA P-256.
//
// Invariants: an Authority and an SVID are immutable; an SVID does not outlive the
// certificate of its authority; a generated key is written only to a file of mode
// 0600, which appears as a whole or not at all.
package ca
