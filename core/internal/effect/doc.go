// Package effect contains one table: the resources of a proxy that each field of each policy
// kind changes. It shows whether an edit of the field closes connections (SPEC 11.8): an
// Envoy that gets a changed listener keeps the old one until the drain time is over, and
// then closes its connections. A changed route, cluster, endpoint or extension closes no
// connection of a client.
//
// [ChangedBy] finds the row of a field. The table of core/DRAINS.md is generated from [Table]. Package
// snapshot compares the bytes of listeners to find those that drain, for `diff` and `serve`,
// and uses this table to name the causes.
//
// Tests compare the table with what happens:
//
//   - core/app/internal/serve/proxied: with the resources that differ after an edit of each field
//   - core/app/internal/e2e/serving: with the connections that a real Envoy closes
//   - this package: with the page
package effect
