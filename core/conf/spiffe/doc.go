// Package spiffe contains the field types of MeshIdentity and MeshTrust: where
// the SPIFFE IDs and certificates of proxies come from, and which authorities
// vouch for them (SPEC 11.6).
package spiffe
