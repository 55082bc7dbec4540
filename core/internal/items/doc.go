// Package items finds the `to` items that apply to requests (SPEC 4.1 to 4.3, 17.3): the
// requests of an outbound, of a route of it, or of a listener of a builtin gateway.
//
//  1. [Contributes] reports whether a policy may apply to a route, or to a whole outbound.
//  2. [Applies] reports whether an item applies to an outbound by its tags.
//  3. [ListenerTo] merges the items that apply to a listener.
//
// The package does not order policies, and has no state.
package items
