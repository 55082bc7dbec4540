// Package fuzz compares the engine with the reference, on random meshes.
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
//  3. The real loader loads the scenario, and the confs of each dataplane, as
//     [core.View.Config] returns them, are compared with those of the reference (package
//     naive).
//  4. A scenario that fails is shrunk: parts that the failure does not need are
//     removed, and the rest is printed as YAML. [Generator.Compare] and [Generator.Fuzz]
//     do so for any comparison.
//
// The fuzz targets:
//
//	FuzzConfigs  the confs of dataplanes
//	FuzzMerge    the laws of merging, for one Conf type
//	FuzzDecode   arbitrary files
//
// Package core/app/internal/oracle compares whole answers and decisions about requests, package
// core/internal/variant/oracle sets of variants.
//
// [CheckKind] tests a policy kind: it checks the Conf types against the
// reference and the laws of merging, and then compares the confs of dataplanes. The Confs of the
// laws are those of files, and those that gofuzz makes from the same bytes, as programs may set them.
//
// Invariants: the same bytes and kinds give the same scenario; the package has no
// global state and no randomness without a seed.
package fuzz
