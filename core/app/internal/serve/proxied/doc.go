// Package proxied adds what proxies get, the snapshots of package snapshot, to what policies
// decide, the answers of package inspect. Neither of those packages depends on the other.
//
//   - [Comparison] adds the listeners that drain to a diff (SPEC 11.8).
//   - [NoEffect] marks the fields that a proxy does not get (SPEC 10).
//   - [NewCheck] adds what proxies cannot do to the findings (SPEC 11.1).
package proxied
