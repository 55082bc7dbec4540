// Package translators gives the built-in policy kinds their effect on Envoy (SPEC
// 11.5): one file and one [xds.Translator] for each kind.
//
// [All] is the list in the order in which they shape a draft. The order matters
// where kinds add filters: access log, permission, rate limit, fault injection
// (SPEC 11.2). MeshHTTPRoute and MeshTCPRoute are first, because other kinds shape
// the routes that they make. MeshHealthCheck is after MeshLoadBalancingStrategy and
// MeshCircuitBreaker, because it leaves alone what they have set. MeshProxyPatch is
// last.
//
// An embedder's kind whose confs depend on the client and the request adds its filter
// with [AddHTTPFilter].
//
// The stories in testdata show what each kind changes in a snapshot
// (stories_test.go).
//
// Invariant: each field of each Conf has an effect or a warning where it cannot
// have one. Other fields are in the translator's list of ignored fields
// (fields_test.go).
package translators
