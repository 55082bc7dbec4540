// Package fuzz holds the fast path against the contract, by scenarios that
// nobody thought of.
//
// The pipeline:
//
//  1. A [Generator] knows the alphabets: few names, tags and values, so that
//     policies overlap, and for each Conf type a pool of Confs that a file may
//     have. The Confs are made by their Go types: every field that is met gets
//     the texts that its type accepts.
//  2. [Generator.Scenario] decodes bytes, one or two a decision, to the
//     documents of a file, in both spellings of SPEC 1.1. Every sequence of
//     bytes is a scenario that loads.
//  3. [Compare] loads it through the real loader and asks a [Subject] and the
//     reference (package naive) about every dataplane. Answers are compared as
//     JSON. Rule views are compared by their meaning: everybody whom the
//     selectors can tell apart is evaluated (SPEC 4.5, 5.1, 5.3); and their
//     forms and sizes are held to SPEC 5.3 and 5.4.
//  4. [Explain] leaves out what a failure does not need and prints the rest.
//
// The soak test runs seeded scenarios, the fuzz targets any bytes:
//
//	FuzzMatch      which policies select a dataplane, in which order
//	FuzzEffective  whole answers
//	FuzzFrom       the rule views, for everybody who could exist
//	FuzzPermission decisions about requests to an inbound
//	FuzzMerge      merging of one Conf type, and its laws
//	FuzzDecode     arbitrary files
//
// [CheckKind] is for embedders: with one call it holds the Conf types of a kind
// against the reference and the laws of merging, and then whole answers.
//
// Invariants: the same bytes and kinds give the same scenario; nothing here is
// global or random without a seed.
package fuzz
