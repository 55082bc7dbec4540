package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListPackages(t *testing.T) {
	dir := writeFixture(t, "steps", "steps")
	if err := os.Mkdir(filepath.Join(dir, "tests"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "tests", "x_test.go"), "package tests\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n", 0o644)
	for _, test := range []struct {
		name     string
		patterns []string
		broken   string // the content of a file in addition to the fixture's
		count    int
		want     string // of the error
	}{
		{"a package", []string{"./..."}, "", 1, ""},
		{"a package that this side does not have", []string{".", "./younger"}, "", 1, ""},
		{"a package with tests only", []string{"./tests"}, "", 0, ""},
		{"a file that does not parse", []string{"."}, "package", 0, "expected 'IDENT'"},
		{"a package of two names", []string{"."}, "package other", 0, "found packages fixture (cost.go) and other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.broken != "" {
				writeFile(t, filepath.Join(dir, "other.go"), test.broken+"\n", 0o644)
			}
			packages, err := listPackages(context.Background(), dir, test.patterns)
			if len(packages) != test.count {
				t.Errorf("%d packages, want %d", len(packages), test.count)
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}
