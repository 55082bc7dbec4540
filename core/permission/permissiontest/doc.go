// Package permissiontest makes random MeshTrafficPermissions and requests for
// tests, over alphabets so small that they meet. The same seed gives the same
// scenario.
package permissiontest
