// Package diff finds how the effective configuration and the access to inbounds change
// from one view to another (SPEC 10, 13.1).
//
//  1. [New] pairs the dataplanes of both views; pairs with equal configs are skipped.
//  2. Both sides of a pair are flattened to leaves, by place and field (leaves.go).
//     Rules and permission entries are identified by their matches, so an additional one
//     is one change. The clients of `from` are divided by the selectors of both views
//     (clients.go).
//  3. Dataplanes whose leaves differ in the same way form one group.
//  4. The permissions of each inbound are compared for all requests that it can receive,
//     once for each distinct pair of permissions (access.go).
//  5. Destinations are compared by their resources, endpoints and zones, if both views are of
//     different input (destinations.go).
package diff
