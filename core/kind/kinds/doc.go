// Package kinds is the list of the built-in policy kinds (SPEC 1.4). An embedder
// combines them with its own kinds:
//
//	resource.NewKinds(append(kinds.BuiltIn(), upstreamtimeout.Kind())...)
//
// It does not depend on translators or on the computation of confs.
package kinds
