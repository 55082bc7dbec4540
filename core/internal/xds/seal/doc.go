// Package seal decides whether changes of finished Envoy resources, such as changes by a
// MeshProxyPatch, weaken the permissions of an inbound (SPEC 11.5). It compares
// resources before and after the changes, and ignores how they were changed:
//
//  1. [New] takes the messages of an inbound as its translators made them, with the
//     number of filters that decide about clients.
//  2. [Inbound.Broken] returns how a change breaks the seal: the decisions that it
//     removes or bypasses (inbound.go, filters.go, manager.go).
//  3. [Find] returns what changed listeners, routes and clusters refer to (reach.go).
//     [Workload.Reached] returns the changes that lead to the workload and bypass its
//     inbound (workload.go).
//
// The allowed changes are lists. One has the fields of a listener and of a connection
// manager that do not decide about clients. The other has the filters that neither
// answer a request, nor change it, nor end a chain. Any other change before a decision
// breaks the seal. A field or a filter of a later version of Envoy is in no list, so it
// breaks the seal too.
//
// A filter may run a program (Lua, Wasm, Go), and the program may compute the name of a
// cluster. So a new listener with a program breaks the seal. After the permission filter
// of an inbound, a program receives only allowed requests.
package seal
