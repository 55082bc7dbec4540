// Command peers measures meshmatch and other projects on the same inputs, in one run, and
// writes the result to a page with a picture: `make peers`.
//
// The pipeline:
//
//  1. Each file of a subject lists comparisons: matching.go (Calico, Kubernetes), kuma.go and
//     kuma_xds.go (Kuma), permission.go (Cedar, package regexp), merge.go (Kuma, and the patches
//     that gateways and meshes use), decode.go (libraries for JSON and YAML) and serve.go
//     (go-control-plane).
//  2. A comparison is prepared: it makes the input, and each contender answers once. If two
//     answers differ, it fails before anything is measured (comparison.go).
//  3. The contenders are measured in alternating rounds. A round of a contender repeats the
//     work until the round is long enough for the clock (measure.go).
//  4. The ratio of each round and the times are summarized by their median and its 95 %
//     confidence interval, by golang.org/x/perf/benchmath, without an assumption about the
//     distribution (summary.go).
//  5. The page (page.go) and the picture (picture.go) show all comparisons, also those in
//     which a peer is better.
//
// It is a module of its own, so the peers are no dependencies of meshmatch. All of them are in
// one process, except Kuma, which needs other versions of the same modules: the program in
// directory kuma is built and started (kuma_process.go).
package main
