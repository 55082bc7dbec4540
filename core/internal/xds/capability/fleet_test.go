package capability

import "testing"

// What clients of real fleets state, and which forms they get: closed forms if the release has not what
// permissions need, or is not known to have it (SPEC 18.2, 18.3).
func TestVersionsOfFleets(t *testing.T) {
	const needs = DelayedConnect | ByteExpressions // what permissions need
	for _, c := range []struct {
		agent, version string
		has            Set // of what permissions need
		refused        bool
	}{
		// Releases, and vendors' builds of them.
		{"envoy", "1.36.9", 0, false},
		{"envoy", "1.36.10", ByteExpressions, false},
		{"envoy", "1.36.10-fips", ByteExpressions, false},
		{"envoy", "1.36.10-BoringSSL-FIPS", ByteExpressions, false},
		{"envoy", "1.38.4-tetrate-v0", needs, false},
		{"envoy", "1.38.4-contrib.3", needs, false},
		{"envoy", "1.38.4-product", needs, false},
		{"Envoy", "1.40.0", needs, false},
		{"cilium-envoy", "1.38.4", needs, false},
		{"envoy", "1.40", needs, false},
		// Builds before a release may lack what it mends.
		{"envoy", "1.36.10-dev", 0, false},
		{"envoy", "1.36.10-fips-dev", 0, false},
		{"envoy", "1.36.10-fips.dev", 0, false},
		{"envoy", "1.36.10-FIPS-DEV", 0, false},
		{"envoy", "1.38.4-dev", DelayedConnect, false},
		{"envoy", "1.38.4-vendor7-rc1", DelayedConnect, false},
		{"envoy", "1.38.4-20260901-nightly", DelayedConnect, false},
		{"envoy", "1.38.4-prerelease", DelayedConnect, false},
		{"envoy", "1.39.1-0.snapshot.3", DelayedConnect, false},
		{"envoy", "1.39.1-git1234", DelayedConnect, false},
		{"envoy", "1.37.0-dev", 0, false},
		{"envoy", "1.41.0-dev", needs, false},
		// What cannot be read.
		{"envoy", "", 0, false},
		{"envoy", "main", 0, false},
		{"envoy", "v1.40.0", 0, false},
		{"envoy", " 1.40.0", 0, false},
		{"envoy", "1.40.0+dev", 0, false},
		{"envoy", "1.40.0.dev0", 0, false},
		{"envoy", "1.40.0/Clean/RELEASE", 0, false},
		{"envoy", "1.40.0.0", 0, false},
		{"envoy", "1.40.99999999", 0, false},
		{"envoy", "0x1.40.0", 0, false},
		// Numbers of other programs.
		{"acme-proxy", "9.9.9", 0, false},
		{"istio-agent", "1.40.0", 0, false},
		{"a relay", "1.40.0", 0, false},
		{"", "1.40.0", needs, false},
		// Too old.
		{"envoy", "1.34.9", 0, true},
		{"envoy", "1.35.0-dev", 0, true},
		{"envoy", "1.35.0-fips", 0, false},
		{"envoy", "0.0.0", 0, true},
		{"envoy", "0.0.0-dev", 0, true},
		{"acme-proxy", "1.2.3", 0, true},
	} {
		client, err := ClientBy(c.agent, c.version)
		if has := needs &^ client.Lacks; (err != nil) != c.refused || err == nil && has != c.has {
			t.Errorf("%q %q has %s (%v), want %s and refused %t", c.agent, c.version, has, err, c.has, c.refused)
		}
	}
}
