package coretest

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// View returns the view of the resources of a text; see [resourcetest.Decode].
func View(t testing.TB, text string) *core.View {
	t.Helper()
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return view
}
