// Package match answers which policies select a dataplane, in which order
// they override each other, and whom a change of the policies reaches.
//
// The pipeline of a question:
//
//  1. A policy's top-level targetRef becomes a selector: a conjunction of terms
//     such as "has tag version=v1" or "is called web-1" (terms.go). A policy
//     that is attached to a route has none: it follows the route wherever that
//     selects (route_uses.go).
//  2. A dataplane becomes points: one for each inbound, one for its gateway,
//     or one for itself where it has neither. A point has the terms of its
//     tags and those of the whole dataplane, so that the tags of one selector
//     can only hold on one and the same inbound (SPEC 2.2).
//  3. The term index (package index) finds the selectors whose terms a point
//     has, looking at few others.
//  4. The policies found are sorted by their rank in a strict total order
//     ([Order], SPEC 3), kind by kind.
//
// The pipeline of a change, for a writer who keeps a [Population] and
// [Classes] beside the index:
//
//  1. An [Editor] makes the next version of the [Index], and a [Delta].
//  2. Only the terms that selectors require can tell dataplanes apart. Those
//     that have the same of them at each point are a [Class], and a selection
//     is made for each class. [Population.Reached] finds the dataplanes that
//     have a term which began or ceased to be required: they change class.
//  3. [Classes.Reached] finds the classes that a selector matches whose policy
//     came, left or changed: they are selected again. Where policies differ in
//     their confs alone ([Delta.Replaced]), the [Matched] that a class had takes
//     the new versions and shares the rest.
//
// Invariants: an [Index] is immutable and safe for any number of readers; a
// [Buffer] belongs to one of them; a Population and Classes belong to one
// writer and are changed in place. Selecting allocates nothing once the buffer
// has grown to size. The answer depends on the policies alone, not on the edits
// that led to them. Within one edit no term's id changes its meaning, so the
// classes of the version before can still be looked up.
package match
