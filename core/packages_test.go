package core_test

import (
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// TestPackageDocs requires that the comment of each package is in its doc.go, and in no
// other file.
func TestPackageDocs(t *testing.T) {
	documented := map[string]bool{}
	for name, text := range sources(t, ".go") {
		name = strings.TrimPrefix(name, "../")
		if strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		own := path.Dir(name)
		documented[own] = documented[own] || path.Base(name) == "doc.go" && file.Doc != nil
		if file.Doc != nil && path.Base(name) != "doc.go" {
			t.Errorf("%s has a comment of its package; move it to doc.go", name)
		}
	}
	for own, ok := range documented {
		if !ok {
			t.Errorf("package %s has no doc.go with its comment", own)
		}
	}
}
