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
// A [Keeper] records what each load reads. The recording of a load that its reader has
// applied replaces a file, from which a later process starts if it finds no good files.
//
// A scan is made when the operating system, or the program by [Files.Notifications],
// reports a change (notify.go), and at intervals. Notifications only make it faster: they
// can be lost, be missing on a network file system, and do not reach what a symbolic link
// refers to. Files are loaded when they have ceased to change; when that is, is decided in
// watch.go.
//
// Invariants:
//
//   - A load with an error changes nothing (SPEC 1.2). Its diagnostics are those
//     of `check`.
//   - The batches that were yielded, applied in order to an empty engine, make the
//     resources of the last good load.
//   - Files that change while they are loaded are loaded again.
package source
