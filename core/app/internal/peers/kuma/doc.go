// Command kuma does what core/app/internal/peers compares with Kuma, with Kuma's own packages, in a
// process of its own: Kuma needs other versions of Kubernetes' and of Envoy's modules than
// meshmatch, and here it has those that its go.mod names.
//
//  1. It reads commands from the standard input, one JSON object on each line
//     (protocol.go), and answers each with one line.
//  2. "load" gives it the resources of a mesh in Kuma's universal format.
//  3. "rules" selects the MeshTimeouts of a dataplane and builds its rules, by package
//     matchers; "merge" merges confs, by package results (work.go).
//  4. "xds" makes the xDS resources of dataplanes from nothing, by packages context, sync and
//     generator, and "edit" makes them again after a policy was replaced (proxy.go).
//  5. Each answer has the result, or how long the work took and how much it allocated.
//
// The version of Kuma is the newest one of its module that the module proxy serves: see
// go.mod.
package main
