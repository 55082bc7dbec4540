// Package match finds which policies select a dataplane, in which order they
// override each other, and which dataplanes a change of the policies reaches.
//
// A selection has these steps:
//
//  1. A policy's top-level targetRef becomes a selector: a conjunction of facts
//     such as "has tag version=v1" or "has the name web-1" (facts.go). A policy
//     that is attached to a route has no selector; it is selected together with
//     the route (route_uses.go).
//  2. A dataplane becomes points: one for each inbound, one for its gateway, or
//     one for a dataplane with neither. A point has the facts of its own tags and
//     the facts of the whole dataplane, so one inbound must have all tags of a
//     selector (SPEC 2.2).
//  3. The term index (package index) finds the selectors whose facts a point
//     has. It compares only a few other selectors.
//  4. In scope Enforced, a policy with the shadow label is removed, unless the
//     point has the fact of a placement that is part of the policy's override
//     (overrides.go; package enforce).
//  5. The selected policies are sorted by kind, and within a kind by their rank
//     in a strict total order ([results.Order], SPEC 3).
//
// A writer that maintains a [DataplaneIndex] and [Classes] in addition to the
// index makes a change in these steps:
//
//  1. An [Editor] makes the next version of the [Index], and a [Delta].
//  2. Only the facts that selectors require distinguish dataplanes. Dataplanes with the
//     same facts at each point form a [Class], and a selection is made for each class.
//     [DataplaneIndex.Reached] finds the dataplanes with a fact that selectors began or
//     ceased to require: their class changes. [DataplaneIndex.ReachedByPlacements]
//     finds the dataplanes that entered or left a placement: their class differs from
//     the previous one in placements alone.
//  3. [Classes.Reached] finds the classes that match a selector of a policy that
//     was added, removed or replaced: they are selected again. If policies differ
//     in their confs alone ([Delta.Replaced]), [Buffer.Replace] puts the new versions
//     into the list of a class; the new list shares its other pages with the old
//     one.
//
// Invariants: an [Index] is immutable and safe for concurrent use; a [Buffer]
// belongs to one goroutine; a DataplaneIndex and Classes belong to one writer and
// are changed in place. Selecting allocates nothing once the buffer has grown.
// The result depends on the policies alone, not on the edits that led to them.
// Within one edit no fact's id changes its meaning, so the classes of the
// previous version are still valid keys.
package match
