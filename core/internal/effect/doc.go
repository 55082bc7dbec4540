// Package effect contains one table: the resources of a proxy that each field of each policy
// kind changes. It shows whether an edit of the field closes connections (SPEC 11.8): an
// Envoy that gets a changed listener keeps the old one until the drain time is over, and
// then closes its connections. A changed route, cluster, endpoint or extension closes no
// connection of a client.
//
// [Of] finds the row of a field. The page core/DRAINS.md is generated from [Table]. Package
// snapshot compares the bytes of listeners to find those that drain, for `diff` and `serve`,
// and uses this table to name the causes.
//
// Three tests compare the table: one in core/xds/translators with the resources that differ
// after a change of each field, one in core/app/internal/e2e/serving with the open connections of a
// real Envoy, and one with the page.
package effect
