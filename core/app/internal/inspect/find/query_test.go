package find_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// TestSpelled spells the fields of an error differently: the text and the kind of the
// error remain.
func TestSpelled(t *testing.T) {
	timeout, err := find.Kind(kinds.All(), "MeshTimeout")
	if err != nil {
		t.Fatal(err)
	}
	for text, query := range map[string]inspect.ConfQuery{
		"no policy kind is given; give [kind], such as MeshTimeout": {},
		"[route] belongs to [outbound]":                             {Kind: timeout, Route: "r"},
		"give [outbound] or [inbound], not both":                    {Kind: timeout, Outbound: "a", Inbound: "b"},
		`[path] must start with /, "path" does not`:                 {Kind: timeout, Inbound: "a", Request: inspect.RequestQuery{Path: "path"}},
		"[tag] a is given twice; a client has one value of a tag":   {Kind: timeout, Inbound: "a", Request: inspect.RequestQuery{Tags: []string{"a=b", "a=c"}}},
	} {
		var failure *find.Error
		if err := query.Check(); !errors.As(err, &failure) {
			t.Errorf("%v is not an Error", err)
			continue
		}
		spelled := failure.Spelled(func(field find.Field) string { return "[" + string(field) + "]" })
		if spelled.Error() != text || !errors.Is(spelled, find.ErrUsage) {
			t.Errorf("got %q, want %q", spelled, text)
		}
		if plain := strings.NewReplacer("[", "", "]", "").Replace(text); failure.Error() != plain {
			t.Errorf("got %q, want %q", failure, plain)
		}
	}
}
