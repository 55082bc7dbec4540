// Package meshhttproute defines the policy kind MeshHTTPRoute: which requests to a
// service are changed, redirected, copied or sent to other backends. Other
// policies can select a route by its name (SPEC 4.3).
//
// It contains the conf, the allowed arrays and targetRefs, and the validation. It does
// not depend on other kinds, dataplanes or Envoy; core/xds/translators turns a conf into
// Envoy configuration.
package meshhttproute
