package envoytest

import (
	"os"
	"testing"
)

// Path returns the binary that the variable ENVOY names. Without it the test is
// skipped; in CI, where CI=true, it fails.
func Path(t testing.TB) string {
	path := os.Getenv("ENVOY")
	switch {
	case path != "":
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("ENVOY is not set; run make e2e")
	}
	t.Skip("ENVOY is not set; make e2e fetches one and runs this test")
	return ""
}

// Start is [Run] for the time of a test.
func Start(t testing.TB, name string, bootstrap []byte) *Proxy {
	p, err := Run(Path(t), t.TempDir(), name, bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}
