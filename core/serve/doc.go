// Package serve is the server of meshmatch: it watches files, keeps an engine up to
// date with them, and serves the result by ADS and HTTP (SPEC 12).
//
//	files ──> source ──> engine ──> xds.State ──┐
//	                       │                    ├──> publication ──> ADS
//	                       │       sds.Secrets ─┘         │
//	                       └───────────── view ───────────┴────────> HTTP
//
// [Server.Run] does the following until its context ends:
//
//  1. It opens both listeners, and serves HTTP at once. A client that asks before the
//     first load gets status 503; `/readyz` is ready after it.
//  2. It loads the files (package source). If the first load has errors, it serves the
//     last good input that it kept in an earlier run; without one the errors end the
//     server: they are what Run returns. Errors of a later load are logged, and change
//     nothing.
//  3. Each good load is applied as one batch (package core), and published: the state
//     of its view (package xds) with the secrets of Bundled identities (package sds).
//     What has no effect is logged once as a warning. If a load removes many dataplanes
//     of a mesh, those removals wait, as the files may only be away for a moment.
//  4. After the first publication it serves ADS (package server).
//  5. At an interval it looks for certificates that are due and CA files that changed,
//     and publishes again if there are any.
//
// Invariants:
//
//   - A publication is immutable, and consistent: HTTP answers and ADS responses of
//     one publication are about the same view.
//   - The bad edit of a file, a CA or a TLS certificate changes nothing.
//   - Without TLS nothing is served to other machines unless Options.Insecure is set,
//     and private keys are served to none of them at all.
//   - Run returns within [Options.Grace] after its context ends.
package serve
