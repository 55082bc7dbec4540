package inspectapi_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
)

// TestFields uses each field that an error of package inspect may name as a parameter. It
// must be the name of one.
func TestFields(t *testing.T) {
	archive, err := txtar.ParseFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	api := newAPI(t, archive)
	for _, field := range find.Fields() {
		const conf = "/meshes/default/dataplanes/backend-1/_conf?"
		if w := ask(api, http.MethodGet, conf+string(field)+"=x"); strings.Contains(w.Body.String(), "unknown parameter") {
			t.Errorf("%s is not a parameter: %s", field, w.Body)
		}
	}
}
