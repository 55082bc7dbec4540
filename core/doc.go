// Package core is what an embedder imports: resources go in, and for every
// dataplane its effective configuration comes out, with its reasons.
//
//	set, err := loader.Load("policies/")       // or build resources in code
//	view, err := core.NewView(kinds.All(), set)
//	for _, d := range view.Dataplanes("default") {
//		for _, config := range view.Configs(d, core.Scope{}) {
//			...
//		}
//	}
//
// The pipeline:
//
//  1. [NewView] files the policies of each mesh in an index (package match).
//  2. [View.Select] finds the policies that select a dataplane, in order.
//  3. [View.Configs] merges them, kind by kind (package rules).
//
// Invariants: a [View] is immutable and safe for any number of readers; equal
// resources give equal answers, whatever order they came in.
package core
