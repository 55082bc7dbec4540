// Package serve is the server of meshmatch. It watches files, applies their changes to
// an engine, and serves the result by ADS and HTTP (SPEC 12).
//
//	files ──> source ──> engine ──> xds.State ──┐
//	                       │                    ├──> publication ──> ADS
//	                       │       sds.Secrets ─┘         │
//	                       └───────────── view ───────────┴────────> HTTP
//
// [Server.Run] takes these steps, and ends when its context ends:
//
//  1. It opens both listeners, and serves HTTP at once. Before the first load,
//     requests and `/readyz` get status 503.
//  2. It loads the files (package source). If the first load has errors, it serves the
//     last good input of an earlier run. If none is kept, Run returns the errors. Errors
//     of a later load are logged, and change nothing.
//  3. It applies each good load as one batch (package core), and publishes the result:
//     the state of its view (package xds) and the secrets of Bundled identities (package
//     sds). It logs once what has no effect, as a warning. If a load removes many
//     dataplanes of a mesh, those removals wait: their files may be missing only for a
//     moment.
//  4. After the first publication it serves ADS (package server).
//  5. At an interval it checks for certificates that are due for renewal and for changed
//     CA files. If there are any, it publishes again.
//
// Invariants:
//
//   - A publication is immutable, and consistent: HTTP answers and ADS responses of
//     one publication are about the same view.
//   - An invalid edit of a file, a CA or a TLS certificate changes nothing.
//   - Without TLS nothing is served to other machines unless Options.Insecure is set.
//     Private keys are not served to them even then.
//   - Run returns within [Options.Grace] after its context ends.
package serve
