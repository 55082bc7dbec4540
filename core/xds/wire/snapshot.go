package wire

// A Snapshot is what one dataplane is served. It is immutable.
type Snapshot [NumTypes]Resources

// Resources are the resources of one type in a snapshot. Both slices are sorted by
// name, are never changed, and have no name in common. Equal resources are usually the
// same pointer in all snapshots; if they are not, their versions are compared. Snapshots
// should share slices that are equal: that costs less than copies.
type Resources struct {
	Listed []*Resource // served to wildcard subscriptions, and by name
	Named  []*Resource // served by name only, such as listeners for gRPC (SPEC 11.4)
}
