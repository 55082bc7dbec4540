package bench

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkLoad decodes and validates one YAML file of 10,000 policies, as a
// control plane's export or a large repository has them.
func BenchmarkLoad(b *testing.B) {
	const n = 10_000
	kind := shape.TimeoutKind()
	var file bytes.Buffer
	for _, p := range shape.Fleet(kind, n) {
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
	for b.Loop() {
		set, err := loader.Decode(resource.Input{Name: "policies.yaml", Data: file.Bytes()})
		if err != nil {
			b.Fatal(err)
		}
		if len(set.Policies) != n {
			b.Fatalf("%d policies, want %d", len(set.Policies), n)
		}
	}
}
