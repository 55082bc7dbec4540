// Package etcd keeps resources in etcd: it is a [source.Store], and writes (SPEC 14).
//
// # Keys
//
// A resource is one key, PREFIX/KIND/MESH/NAMESPACE/NAME, with its document as JSON
// (keys.go). Two more keys belong to writes of more resources than one transaction can
// have:
//
//	PREFIX/-/apply   exists while such a write is in progress; it has a lease
//	PREFIX/-/last    the last such write, and whether it is complete
//
// # Reading
//
//  1. [Store.Follow] lists all keys in pages of one revision, or finds that the revision
//     of the caller can be followed further (list.go).
//  2. It watches from the next revision, from a member that has a leader. A response
//     never has a part of a transaction (follow.go).
//  3. Twice a second it reads the revision of the cluster, and asks the watch for its progress
//     (pulse.go). When the watch has reached that revision, the state is confirmed. So a
//     member that lags, or a watch that hangs, never confirms a state.
//  4. While a write in parts is in progress, or was interrupted, pages are not complete
//     (hold.go).
//
// All reads are linearizable. A revision that is older than one that was read before is
// [source.ErrSetBack], and so is another history of a revision that was read (witness.go). If the
// identity of the cluster or its term went back, everything is
// listed again.
//
// # Writing
//
// [Store.Read] reads a state with the revision of each key. [Store.Write] writes changes
// of that state if none of the keys that it writes has changed since (write.go). Up to 128
// keys are written in one transaction. More need several; PREFIX/-/apply exists from the
// first to the last of them. If a key has changed, what was written is undone.
package etcd
