package resource_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkDecode decodes and validates one file of 1,000 dataplanes with 2
// inbounds and 10 outbounds each: JSON documents, YAML documents, and one JSON list.
// The baseline is the standard library: it decodes the same JSON into structs with
// the same fields, and validates nothing.
func BenchmarkDecode(b *testing.B) {
	const n = 1_000
	set := &resource.Set{}
	for j := range n {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 10))
	}
	for _, format := range formats {
		file, err := format.write(set)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("dataplanes=1000/format="+format.name+"/impl=strict", func(b *testing.B) {
			loader := resource.Loader{Kinds: resource.NewKinds()}
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			var decoded *resource.Set
			for b.Loop() {
				if decoded, err = loader.Decode(b.Context(), resource.Input{Name: "dataplanes." + format.name, Data: file}); err != nil {
					b.Fatal(err)
				}
			}
			if diff := cmp.Diff(set.Dataplanes, decoded.Dataplanes, cmpopts.IgnoreFields(resource.Meta{}, "Pos"), cmpopts.IgnoreUnexported(resource.Dataplane{}), cmpopts.EquateEmpty()); diff != "" {
				b.Fatal(diff)
			}
		})
	}
	file, err := shape.JSON(set)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("dataplanes=1000/format=json/impl=unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		var documents []shape.Document
		for b.Loop() {
			documents = documents[:0]
			for decoder := json.NewDecoder(bytes.NewReader(file)); ; {
				var document shape.Document
				if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
				documents = append(documents, document)
			}
		}
		if len(documents) != n || documents[n-1].Networking.Outbound[9].Tags[resource.ServiceTag] != shape.Service(9) {
			b.Fatalf("%d documents, want %d", len(documents), n)
		}
	})
}
