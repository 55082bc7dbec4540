// Package why explains what one policy, or each policy of a kind, sets for a dataplane:
// the fields that hold, the items that override the others, and the condition of a
// targetRef that fails (SPEC 13.4).
//
//  1. An engine with the policy alone answers which fields it sets, and where
//     (alone.go, set_fields.go).
//  2. The view of all policies answers which of them hold, and what overrides the others
//     (effects.go, overriding.go).
//  3. For a policy that does not select the dataplane, condition.go finds the first
//     condition that fails.
package why
