// Package replay compares access logs with permissions (SPEC 13.6). It finds logged
// requests that the log decides differently, requests that other permissions would decide
// differently, and entries that decide no request.
//
// A log contains lines of JSON, one object for each record, in the form of Envoy. The
// pipeline:
//
//  1. One goroutine reads the files, decompresses them, and cuts them into batches of whole
//     lines (lines.go).
//  2. Several goroutines take batches. Each reads the [Fields] of a line (record.go), finds
//     the inbound by its local address (inbounds.go), and decides the request by the
//     permissions before and after (decide.go).
//  3. Each goroutine counts separately (tally.go), and the counts are added at the end.
//     So the result does not depend on the order of the records or on the goroutines.
//
// [permission.Permissions.Decide] decides a request. A field that is absent from a record
// is unknown, not empty. If entries compare the field, package access returns the decisions
// for all its possible values; if they differ, the decision is unknown.
//
// Invariants:
//
//   - Memory does not grow with the log: lines, cached decisions and the lists of the
//     result are bounded.
//   - A decision is cached for requests that are equal in the parts that the entries of
//     the inbound compare. It is made again only once the cache is full.
//   - No content of a log ends the replay. A line that is not a record is malformed; a
//     file that cannot be read or decompressed is an error.
package replay
