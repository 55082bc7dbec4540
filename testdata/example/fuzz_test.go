package meshkinds_test

import (
	"testing"

	"example.com/meshkinds/params"
	"example.com/meshkinds/proxytemplate"
	"example.com/meshkinds/trafficlog"
	"example.com/meshkinds/upstreamtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// One call holds everything that was generated for a kind against the
// reference and the laws of merging.
func TestKindsAgainstReference(t *testing.T) {
	for _, kind := range []*resource.Kind{upstreamtimeout.Kind(), proxytemplate.Kind(), trafficlog.Kind(), params.Kind()} {
		t.Run(kind.Name, func(t *testing.T) { fuzz.CheckKind(t, kind) })
	}
}
