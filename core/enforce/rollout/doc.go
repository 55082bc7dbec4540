// Package rollout plans how a change is applied to the clusters of a placement,
// a few at a time (SPEC 8.6).
//
// [New] is a pure function of a rollout, the decision groups of its placement
// and a time. It returns the [Plan]: an action for each cluster, with a reason.
// A controller applies the change where the action is Apply, reports how far
// each cluster has got as the rollout's status, and plans again; the plan's
// RecheckAfter is when time alone will change the plan.
//
// The pipeline:
//
//  1. Each cluster has a state at the time (progress.go): it has not begun, it is
//     in work, or it is finished. A cluster that failed and is before its
//     deadline is in work and a failure.
//  2. Clusters are cut into stages (stage.go): each mandatory group, and then the
//     others, all together or group by group. A stage begins when the stage
//     before is finished, with no more failures than it tolerates.
//  3. Within the stage that is reached, clusters that have not begun begin in
//     order, as far as the limit of clusters in work allows.
//
// Invariants: the same input gives the same plan. A cluster in work is never
// removed from work, whatever else fails. No cluster begins in a stage after one that
// is not finished, and none after a stage with too many failures.
package rollout
