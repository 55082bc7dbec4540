package envoytest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds"
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

// Version returns the version of the binary of [Path].
func Version(t testing.TB) capability.Version {
	t.Helper()
	v, err := VersionOf(Path(t))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// versions are the known versions of binaries, by path. An Envoy takes 0.1 s to print its own, and
// tests ask thousands of times.
var versions sync.Map

// VersionOf returns the version of a binary.
func VersionOf(path string) (v capability.Version, err error) {
	if known, ok := versions.Load(path); ok {
		return known.(capability.Version), nil
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return v, err
	}
	// Such as: envoy  version: 9e558/1.40.0/Clean/RELEASE/BoringSSL
	for part := range strings.SplitSeq(string(out), "/") {
		if v, err = capability.ParseVersion(part); err == nil {
			versions.Store(path, v)
			return v, nil
		}
	}
	return v, fmt.Errorf("%s states no version: %q", path, out)
}

// Client returns what the binary of [Path] is to a builder of snapshots.
func Client(t testing.TB) xds.Client {
	t.Helper()
	return xds.EnvoyOf(Version(t))
}
