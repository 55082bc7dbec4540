// Package replay compares access logs with permissions: which logged requests were decided
// differently, or would be by other permissions, and which entries decide about none (SPEC
// 13.6).
//
// A log is lines of JSON, one object for each record, as Envoy writes them. The pipeline:
//
//  1. One goroutine reads the files, decompresses them, and cuts them into batches of whole
//     lines (lines.go).
//  2. Several goroutines take batches. Each reads the [Fields] of a line (record.go), finds
//     the inbound by its local address (inbounds.go), and decides the request by the
//     permissions before and after (decide.go).
//  3. Each of them counts for itself (tally.go), and the counts are added at the end. So
//     the result does not depend on the order of the records, nor on the goroutines.
//
// A request is decided by [permission.Permissions.Decide]. A field that is absent from a
// record is unknown, not empty. If entries compare it, package access returns the decisions
// for all values that it could have; the request is unknown if they differ.
//
// Invariants:
//
//   - Memory does not grow with the log: lines, decisions that are kept, and the lists of
//     the result are bounded.
//   - A decision is kept for requests that are equal in what the entries of the inbound
//     compare, and is not made again for them until the room for them is full.
//   - Nothing in a log ends the replay. A line that is no record is malformed; a file that
//     cannot be read or decompressed is an error.
package replay
