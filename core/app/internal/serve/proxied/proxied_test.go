package proxied_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// stateOf returns the snapshots of a mesh.
func stateOf(t *testing.T, mesh string) *snapshot.State {
	t.Helper()
	return snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(coretest.View(t, mesh))
}

// envoyPackages returns the directory of the packages that make Envoy resources. Their
// tests have meshes, which the tests of this package read too.
func envoyPackages(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "xds/translators/testdata")); err == nil {
			return filepath.Join(dir, "xds")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no directory above this one has the tests of translators", err)
	return ""
}
