// Package permissiontest makes random MeshTrafficPermissions and requests for
// tests. The alphabets are small, so that requests match entries. The same seed
// gives the same scenario.
package permissiontest
