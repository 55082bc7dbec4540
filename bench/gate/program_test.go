package gate

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

func TestListPackages(t *testing.T) {
	dir := writeFixture(t, "steps", "steps")
	for _, test := range []struct {
		name     string
		patterns []string
		broken   string // what a file besides the fixture's says
		count    int
		want     string // of the error
	}{
		{"a package", []string{"./..."}, "", 1, ""},
		{"a package that this side does not have", []string{".", "./younger"}, "", 1, ""},
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
