package xds_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A client is taken for what it states, and for the oldest Envoy if it states no version: what
// permissions need is never left to a release that may lack it (SPEC 18.2).
func TestClientBy(t *testing.T) {
	oldest := xds.EnvoyOf(capability.Unknown)
	if oldest.Lacks == 0 {
		t.Fatal("the oldest Envoy lacks nothing")
	}
	for _, test := range []struct {
		userAgent, version string
		want               xds.Client
	}{
		{"envoy", "1.40.0", xds.Client{}},
		{"envoy", "1.41.0", xds.Client{}},
		{"envoy", "1.36.4", xds.EnvoyOf(capability.Version{Major: 1, Minor: 36, Patch: 4})},
		{"", "1.36.4", xds.EnvoyOf(capability.Version{Major: 1, Minor: 36, Patch: 4})},
		{"envoy", "", oldest},
		{"envoy", "main", oldest},
		{"", "", oldest},
		{"a relay", "", oldest},
		{"gRPC Go", "1.60.0", xds.Client{Type: xds.ProxylessGRPC}},
		{"gRPC Java", "1.42.0", xds.Client{Type: xds.ProxylessGRPC}},
		{"gRPC C-core linux", "C-core 1.85.1", xds.Client{Type: xds.ProxylessGRPC}},
		{"gRPC C-core linux", "C-core 29.0.0", xds.Client{Type: xds.ProxylessGRPC}},
		{"gRPC C-core linux", "C-core 1.62.3 an-app/7", xds.Client{Type: xds.ProxylessGRPC}},
		{"gRPC Node Pure JS", "1.14.2", xds.Client{Type: xds.ProxylessGRPC}},
	} {
		if got, err := xds.ClientBy(test.userAgent, test.version); err != nil || got != test.want {
			t.Errorf("%q %q is %v (%v), want %v", test.userAgent, test.version, got, err, test.want)
		}
	}
	for _, old := range []struct{ userAgent, version, states string }{
		{"envoy", "1.34.9", "1.34.9"},
		{"gRPC Go", "1.41.0", "1.41.0"},
		{"gRPC Java", "1.41.3", "1.41.3"},
		{"gRPC C-core linux", "C-core 28.0.0", "28.0.0"},
		{"gRPC C-core", "28.1.0-dev", "28.0.0"},
		{"gRPC C-core linux", "C-core 1.50.2", "1.50.2"},
		{"gRPC Node Pure JS", "1.14.1", "1.14.1"},
		{"gRPC Go", "1.42.0-dev", "1.41.0"},
		{"gRPC C-core", "", `""`},
		{"gRPC Go", "devel", `"devel"`},
		{"gRPC", "1.80.0", `"gRPC"`},
		{"gRPC Rust", "1.80.0", `"gRPC Rust"`},
	} {
		if _, err := xds.ClientBy(old.userAgent, old.version); err == nil || !strings.Contains(err.Error(), old.states) {
			t.Errorf("%s %s is served: %v", old.userAgent, old.version, err)
		}
	}
}
