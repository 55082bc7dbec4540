// Package rollout plans the rollout of a change to the clusters of a placement,
// a few at a time (SPEC 8.6).
//
// [New] is a pure function of a rollout, the decision groups of its placement and a
// time. It returns the [Plan]: an action for each cluster, with a reason. A
// controller applies the change to clusters with the action Apply, reports the
// progress of each cluster in the rollout's status, and plans again. The plan's
// RecheckAfter is the time after which the plan changes even without a new status.
//
// The pipeline:
//
//  1. Each cluster has a state at the time (progress.go): it has not begun, it is in
//     progress, or it is finished. A cluster that failed before its deadline is in
//     progress, but also counts as a failure.
//  2. Clusters are divided into stages (stage.go): each mandatory group, and then the
//     others, all together or group by group. A stage begins when the previous
//     stage is finished, with no more failures than it tolerates.
//  3. In the current stage, clusters that have not begun begin in order, up to the
//     limit of clusters in progress.
//
// Invariants: the same input gives the same plan. The failure of a cluster never ends
// the progress of another one. No cluster begins in a stage that follows an
// unfinished stage or a stage with too many failures.
package rollout
