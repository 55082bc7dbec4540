// Package kubernetes reads resources from the Kubernetes API (SPEC 14.1). It never writes
// to it.
//
//  1. [Store.Follow] asks which of the program's kinds the API server serves
//     (discover.go), and again in intervals, because CustomResourceDefinitions come and
//     go. The answer counts if the server is ready before and after it: one that starts
//     does not serve all kinds yet.
//  2. Each of them is listed and watched by a goroutine of its own (watch.go). The list
//     is a watch that begins with all objects (WatchList) or, where the server has none,
//     a list in pages at one resource version. A watch that ended continues from the
//     last resource version. If that is too old, the kind is listed again.
//  3. One goroutine, the caller's, puts the kinds together (follow.go). While a kind is
//     being listed, nothing is complete; afterwards only the differences from what was
//     known are passed on.
//  4. A pulse asks in intervals whether the API server is ready, which includes its etcd.
//     If it is not, Follow ends with an error, and its caller follows again.
//
// Documents are passed on as the bytes that the API server sent: they are decoded once,
// by package resource.
//
// Invariants:
//
//   - Each kind is at one resource version, and none goes back: lists are consistent
//     reads, and a kind with an older version than before is [source.ErrSetBack]. So is a
//     list that is not a continuation of what was known (history.go).
//   - The revision of a state is the largest resource version of its kinds.
package kubernetes
