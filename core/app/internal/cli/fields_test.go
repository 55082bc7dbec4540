package cli

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
)

// TestFields finds the flag of each field that an error of package inspect may name.
func TestFields(t *testing.T) {
	conf, _, err := newRoot(Program{}.globals()).Find([]string{"conf"})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range find.Fields() {
		if conf.Flag(string(field)) == nil {
			t.Errorf("there is no flag --%s", field)
		}
	}
}
