// Package placement answers where policies are enforced and where they only inform, with
// the bindings that cause it ([New], SPEC 10). It plans a placement that enforces a policy
// on a growing share of the dataplanes that it selects ([NewPlan], SPEC 13.7).
//
//  1. A plan divides the dataplanes into groups: each alone, or by the value of a label.
//  2. The groups are sorted by a hash. Dataplanes without the label are the last group.
//  3. Each wave has the first groups that reach its share, as documents of OCM (plan.go) or as
//     copies of the policy (policies.go).
//
// Invariants: a wave contains the earlier waves. An added or removed group changes a wave by at
// most one group. An answer depends on the view alone.
package placement
