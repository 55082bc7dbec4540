package core_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFilesOfAnObjectKind limits the hand-written files of the product, in all modules, that name
// a kind of objects. One table (core/resource/object_kind.go) is enough to load, store, edit,
// show and remove objects of a kind; each further file has code about the kind. Two kinds were
// added after the table, and one is older. The limits may fall.
func TestFilesOfAnObjectKind(t *testing.T) {
	for kind, limit := range map[string]int{"MeshZoneAddress": 8, "HostnameGenerator": 8, "MeshTrust": 20} {
		names := regexp.MustCompile(`\b` + kind + `(Kind)?\b`)
		var files []string
		for name, text := range sources(t, ".go") {
			if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated") || strings.Contains(name, "/testdata/") {
				continue
			}
			if names.MatchString(text) {
				files = append(files, name)
			}
		}
		slices.Sort(files)
		if len(files) > limit || len(files) == 0 {
			t.Errorf("%d files name %s, the limit is %d: use the table of object kinds\n%s", len(files), kind, limit, strings.Join(files, "\n"))
		}
	}
}
