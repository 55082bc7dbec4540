package resource_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// BenchmarkLoad decodes and validates one YAML file of 10,000 policies, the size
// of a large export.
func BenchmarkLoad(b *testing.B) {
	const n = 10_000
	kind := meshtimeout.Kind()
	var file bytes.Buffer
	policies := shape.Fleet(kind, n)
	for _, p := range policies {
		file.WriteString("---\n")
		data, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			b.Fatal(err)
		}
		file.Write(data) // JSON is YAML
		file.WriteByte('\n')
	}
	loader := resource.Loader{Kinds: resource.NewKinds(kind)}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	var set *resource.Set
	for b.Loop() {
		var err error
		if set, err = loader.Decode(b.Context(), resource.Input{Name: "policies.yaml", Data: file.Bytes()}); err != nil {
			b.Fatal(err)
		}
	}
	if len(set.Policies) != n {
		b.Fatalf("%d policies, want %d", len(set.Policies), n)
	}
	for i := 0; i < n; i += 97 {
		if diff := fuzz.Difference(policies[i], set.Policies[i]); diff != "" {
			b.Fatal(diff)
		}
	}
}
