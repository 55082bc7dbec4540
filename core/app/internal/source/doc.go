// Package source reads resources from where they are kept and reports changes there as
// batches for an engine (SPEC 14).
//
// A [Source] yields its first state, and then each state that differs, each with its
// revision and the difference from the previous one. There are two implementations:
//
//   - [Files] are files and directories. An invalid document makes a whole load invalid.
//   - [Stored] makes a Source of a [Store], which keeps each resource in an object of its
//     own, such as package etcd. An invalid object concerns only itself.
//
// # Files
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
// # Stores
//
//  1. One goroutine reads pages from [Store.Follow] into an inbox, and calls Follow again
//     after a loss, with back-off (stored.go, inbox.go).
//  2. Another one takes what has arrived, collects changes for a moment, and decodes the
//     objects whose version is not known (objects.go).
//  3. When a state is complete, it edits the lists of the set (edits.go). For an object
//     that does not load, the last good version stays. If there is none, a
//     MeshTrafficPermission becomes a policy that denies (denial.go), and any other object
//     is left out.
//  4. It yields the difference as one [core.Batch].
//
// To add a store, implement [Store]: a list, the changes after it, and an error when the
// connection is lost. Then run the suite of package sourcetest on a [Stored] with it; its
// [sourcetest.Memory] is an example.
//
// # Invariants
//
//   - The batches that were yielded, applied in order to an empty engine, result in
//     the set of the last update.
//   - A load of files with an error changes nothing (SPEC 1.2). Its diagnostics are those
//     of `check`. Files that change while they are loaded are loaded again.
//   - No update has a part of a state of a store, or a state that is older than an earlier
//     one, unless [Stored.AcceptRollback] is set.
//   - A loss changes nothing.
//
// [sourcetest.Memory]: https://pkg.go.dev/github.com/meshmatch/meshmatch/core/source/sourcetest#Memory
package source
