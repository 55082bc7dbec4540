// Package results contains the types of results: the effective conf of each outbound,
// route and inbound of a dataplane, and the item of a policy that set each field.
//
// A [Config] contains the result of one policy kind for one dataplane. The
// engine makes it from the ordered list of the policies that select the
// dataplane ([Matched], SPEC 3):
//
//  1. The policies' arrays are concatenated: in the order of the policies, then
//     in the order of the items (SPEC 4.1).
//  2. For each outbound and route, the items that select it are merged (SPEC
//     4.2, 4.3); for each inbound, rules with equal matches are merged and sorted
//     by their matches (SPEC 7.1); a kind without arrays has one conf (SPEC 4.4).
//  3. Generated code merges the items, highest priority first, until every leaf is set. The
//     result is an [Effective]: the conf, its origins, and the origin of each field
//     ([Effective.Fields], SPEC 6).
//
// `from` items are not merged in advance. A [From] contains them: it merges the conf
// of one client ([From.Client]), or builds the rule view of all possible clients
// ([From.Disjoint], [From.Ordered], SPEC 5.3). [Config.ToRules] is the rule view
// of `to` (SPEC 4.5).
//
// Invariants: every value here is immutable and may be shared by all dataplanes
// with the same result; a result depends on the policies alone. [Merge] and
// [Differences] are for packages that compute or compare confs themselves.
package results
