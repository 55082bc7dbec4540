// Package seal decides whether changes of finished Envoy resources, such as changes by a
// MeshProxyPatch, weaken the permissions of an inbound (SPEC 11.5). It compares
// resources with what they were before, and ignores how they were changed:
//
//  1. [New] takes the messages of an inbound as its translators made them, with the
//     number of filters that decide about clients.
//  2. [Inbound.Broken] returns what of the inbound a change took away or went around
//     (inbound.go, filters.go, manager.go).
//  3. [Find] returns what changed listeners, routes and clusters refer to (reach.go), and
//     [Workload.Reached] the changed ones that lead to the workload without passing its
//     inbound (workload.go).
//
// What a change may do is a list: fields of a listener and of a connection manager that
// do not decide about clients, and filters that neither answer a request, nor change it,
// nor end a chain. Anything else in front of a decision breaks the seal, so a field or a
// filter that a later Envoy adds breaks it too.
//
// A program that a filter runs (Lua, Wasm, Go) may compute the name of a cluster, so a
// new listener with a program breaks the seal. After the permission filter of an inbound
// a program sees only requests that are allowed.
package seal
