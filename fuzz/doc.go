// Package fuzz compares the fast code with the reference, on random meshes.
//
// The steps:
//
//  1. A [Generator] has small alphabets of names, tags and values, so that policies
//     overlap. For each Conf type it has a pool of Confs that are valid in a file. It
//     makes the Confs from their Go types: the values of a field are the texts that
//     its type accepts.
//  2. [Generator.Scenario] decodes bytes, one or two for each decision, to the
//     documents of a file, in both formats of SPEC 1.1: dataplanes, policies, and in
//     some scenarios placements and bindings. Every sequence of bytes gives a scenario
//     that loads.
//  3. The real loader loads the scenario, and the answers about each dataplane are
//     compared, as JSON, with the answers of the reference (package naive). For rule
//     views, the meaning is compared for every client or outbound that their selectors
//     distinguish (SPEC 4.5, 5.1, 5.3); their forms and sizes are checked against SPEC
//     5.3 and 5.4.
//  4. A scenario that fails is shrunk: parts that the failure does not need are
//     removed, and the rest is printed as YAML.
//
// TestSoak compares seeded scenarios; the fuzz targets compare scenarios from
// arbitrary bytes:
//
//	FuzzMatch      which policies select a dataplane, in which order
//	FuzzEffective  whole answers
//	FuzzFrom       the rule views
//	FuzzPermission decisions about requests to an inbound
//	FuzzMerge      the laws of merging, for one Conf type
//	FuzzDecode     arbitrary files
//	FuzzVariants   sets of variants and their fragments (SPEC 9)
//
// [CheckKind] tests a policy kind: it checks the Conf types against the
// reference and the laws of merging, and then compares whole answers.
//
// Invariants: the same bytes and kinds give the same scenario; the package has no
// global state and no randomness without a seed.
package fuzz
