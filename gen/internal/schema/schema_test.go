package schema_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/scenario"
	"github.com/meshmatch/meshmatch/gen/internal/schema"
)

// Each scenario is a package with types, and the schema of each or the errors in the
// source.
func TestSchemas(t *testing.T) {
	var problems diag.List
	all := scenario.All(t)
	for _, pkg := range scenario.Load(t, all, &problems) {
		for _, s := range all {
			if s.Dir != pkg.Dir {
				continue
			}
			for _, object := range pkg.Schemas {
				if text := schema.Generate(pkg.Source, object, &problems); text != nil {
					s.Expect(t, "want/"+object.Name()+".json", string(text)+"\n")
				}
			}
		}
	}
	scenario.ExpectErrors(t, all, &problems)
}
