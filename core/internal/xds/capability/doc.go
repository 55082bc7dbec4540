// Package capability contains what releases of Envoy can do, as far as the form of resources
// depends on it (SPEC 18).
//
// Resources are built by capabilities and not by version numbers:
//
//  1. [ParseVersion] reads the version of a client.
//  2. [ForVersion] returns its [Set], by the one table of the package.
//  3. A translator asks its draft for a capability. It has an equivalent form without it, or
//     leaves the field out with a warning.
//
// Invariants:
//
//   - A version that is newer than [Newest] has the set of Newest.
//   - A capability has one meaning: what Envoy accepts or does, in the words of its API.
package capability
