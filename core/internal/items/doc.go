// Package items finds the `to` items that apply to requests (SPEC 4.1 to 4.3, 17.3): the
// requests of an outbound, of a route of it, of a listener of a builtin gateway, or of
// clients with given parameters (SPEC 9).
//
//  1. [Filed] contains items by the selectors that their targetRefs name, so that few items
//     are compared with an outbound.
//  2. [Contributes] reports whether a policy may apply to a route, or to a whole outbound.
//  3. [Applies] reports whether an item applies to an outbound by its tags, [Finds] whether
//     it refers to a destination and to which of its ports.
//  4. [Memo] merges the items that apply, and contains each merged conf once for all that have
//     it; [Memo.ListenerTo] does both for a listener.
//  5. [WrittenItems] returns the items of a policy as they are written, [Contributions] those that apply
//     to an outbound or a route, and [ItemPlace.Field] where a field of one is.
//
// The package does not order policies. A value of it is immutable, except for editors.
package items
