// Package match answers which policies select a dataplane, and in which order
// they override each other.
//
// The pipeline:
//
//  1. A policy's top-level targetRef becomes selectors: conjunctions of terms
//     such as "has tag version=v1" or "is called web-1" (terms.go).
//     One is enough but for a policy that is attached to a route: it selects
//     where the route's own policies select, so it has one for each of them.
//  2. A dataplane becomes points: one for each inbound, one for its gateway,
//     or one for itself where it has neither. A point has the terms of its
//     tags and those of the whole dataplane, so that the tags of one selector
//     can only hold on one and the same inbound (SPEC 2.2).
//  3. The term index (package index) finds the selectors whose terms a point
//     has, looking at few others.
//  4. The policies found are sorted by their rank in a strict total order
//     ([Order], SPEC 3), kind by kind.
//
// Invariants: an [Index] is immutable and safe for any number of readers; a
// [Buffer] belongs to one of them. Selecting allocates nothing once the
// buffer has grown to size. The answer does not depend on the order in which
// policies were given.
package match
