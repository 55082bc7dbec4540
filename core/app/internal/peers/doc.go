// Command peers measures meshmatch and other projects on the same inputs, in one run, and
// writes the result to a page with a picture: `make peers`.
//
// The pipeline:
//
//  1. Each file of a subject lists comparisons: matching.go (Calico, Kubernetes),
//     calico_members.go (Calico), kuma.go and kuma_xds.go (Kuma), permission.go (Cedar, package
//     regexp), merge.go (Kuma, and the patches that gateways and meshes use), decode.go (Kuma,
//     and libraries for JSON and YAML), serve.go (go-control-plane) and alone.go (no peer).
//  2. A comparison is prepared: it makes the input, and each contender answers once. If two
//     answers differ, it fails before anything is measured (comparison.go).
//  3. The contenders are measured in alternating rounds. A round of a contender repeats the
//     work until the round is long enough for the clock (measure.go).
//  4. The ratio of each round and the times are summarized by their median and its 95 %
//     confidence interval, by golang.org/x/perf/benchmath, without an assumption about the
//     distribution (summary.go).
//  5. The page (page.go) and the picture (picture.go) show all comparisons, also those in
//     which a peer is better, with what could not be measured.
//
// To add a comparison:
//
//  1. Require the peer at a fixed version (go get, then go mod tidy -e), and add its module to
//     peerModules in page.go, so that the page names the version.
//  2. Write a function that returns a [comparison], in the file of its subject or in a new one,
//     and list it in [comparisons]. Its input comes from package core/internal/shape, in a small size for
//     tests; an input of another project has its repository, file and commit in source.
//  3. In prepare, make one [contender] for each side, meshmatch first. Use the peer as its own
//     users do when speed matters: what they do once (parsing, compiling, loading) is not in the
//     time, what they do each time is. Where several ways are usual, measure all and keep the
//     fastest. What one side does in addition belongs into note.
//  4. Give both an answer in one form, as exact as it can be: a comparison whose answers are
//     not compared shows nothing.
//  5. Run it, as in `go run . -only 'the new work' -rounds 6`, and its test:
//     `go test . -run 'TestComparisons/.*the_new_work'`.
//
// A peer that needs other versions of the modules than the rest is a program of its own, as in
// directory kuma. It executes commands and measures itself.
//
// It is a module of its own, so the peers are no dependencies of meshmatch. All of them are in
// one process, except Kuma, which needs other versions of the same modules: the program in
// directory kuma is built and started (kuma_process.go).
package main
