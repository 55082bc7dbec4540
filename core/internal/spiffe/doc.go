// Package spiffe contains the field types of MeshIdentity and MeshTrust: the source of
// the SPIFFE IDs and certificates of proxies, and the authorities that sign them (SPEC
// 11.6).
package spiffe

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen
