package serve_test

import (
	"os"
	"testing"
)

// TestMain makes this binary be the hostile clients of TestSoakHostile, if their variable is
// set, or else runs the tests.
func TestMain(m *testing.M) {
	if xds := os.Getenv(hostileVariable); xds != "" {
		runHostile(target{xds, os.Getenv("HOSTILE_HTTP")})
		return
	}
	os.Exit(m.Run())
}
