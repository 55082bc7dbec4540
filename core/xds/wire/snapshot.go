package wire

// A Snapshot is what one dataplane is served. It is immutable.
type Snapshot [NumTypes]Resources

// Resources are the resources of one type in a snapshot. Both slices are sorted by
// name, are never changed, and have no name in common. A resource with the same
// content is the same pointer in all snapshots and states; where it is not, its
// version decides. A slice that many snapshots share costs less than many equal
// ones.
type Resources struct {
	Listed []*Resource // served to wildcards, and by name
	Named  []*Resource // served by name only, as listeners for gRPC (SPEC 11.4)
}
