// Package effect has one table: which resource of a proxy each field of each policy kind
// changes, and so whether an edit of the field closes connections (SPEC 11.8).
//
// An Envoy that gets another listener goes on with the old one until the drain time is over,
// and then closes its connections. Another route, cluster, endpoint or extension closes no
// connection of a client. [Of] finds the row of a field; the page core/DRAINS.md is made of
// [Table].
//
// The table is data, so tests hold it true. One in core/xds/translators changes each field
// of each kind, and compares which resources differ. One in core/xds/e2e/serving edits the
// field of each row while a real Envoy has open connections. One compares the page.
//
// Package snapshot decides by the bytes of listeners whether they drain, for `diff` and for
// `serve`, and by this table why.
package effect
