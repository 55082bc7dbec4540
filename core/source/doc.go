// Package source reads resources from where they are kept and reports changes
// there as batches for an engine.
//
//  1. [Files.Watch] scans files and directories: it lists them with their sizes
//     and times, without reading them (scan.go).
//  2. When the scan differs from the previous one, it loads all files
//     (package resource). Files whose content did not change are not decoded again.
//  3. It compares the resources with the last good load, and yields the
//     difference as one [core.Batch] (diff.go).
//
// A [Keeper] records what each load reads. When the reader has applied a load, its
// recording replaces a file. A later process starts from that file if it finds no valid
// files.
//
// A scan is made when the operating system, or the program by [Files.Notifications],
// reports a change (notify.go), and at intervals. Notifications only make a watch
// faster: they can be lost, can be missing on a network file system, and do not cover
// the target of a symbolic link. Files are loaded when they have stopped changing
// (watch.go).
//
// Invariants:
//
//   - A load with an error changes nothing (SPEC 1.2). Its diagnostics are those
//     of `check`.
//   - The batches that were yielded, applied in order to an empty engine, result in
//     the resources of the last good load.
//   - Files that change while they are loaded are loaded again.
package source
