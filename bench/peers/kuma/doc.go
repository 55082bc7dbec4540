// Command kuma does what bench/peers compares with Kuma, with Kuma's own packages, in a
// process of its own: Kuma needs other versions of Kubernetes' and of Envoy's modules than
// meshmatch, and here it has those that its go.mod names.
//
//  1. It reads commands from the standard input, one JSON object on each line
//     (protocol.go), and answers each with one line.
//  2. "load" gives it the resources of a mesh in Kuma's universal format, and a dataplane.
//  3. "rules" selects the MeshTimeouts of the dataplane and builds its rules, by package
//     matchers; "merge" merges confs, by package rules (work.go). Both say how long it took,
//     and how much was allocated.
//
// The version of Kuma is the newest one of its module that the module proxy serves: see
// go.mod.
package main
