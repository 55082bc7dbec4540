package resource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkDocuments decodes and validates 1,000 documents of each shape, as files and
// stores have them:
//
//   - lines: JSON, one document on each line
//   - objects: JSON, each document an input of its own, such as a value of an etcd or an event
//     of a watch; documents of Kubernetes have all metadata
//   - list: one JSON object with all documents, as the API server and kubectl print them
//   - block: YAML in block style, documents as people keep them in files
//   - kubectl: one YAML list in block style, as kubectl get -A -o yaml prints it; objects of
//     Kubernetes have managedFields
//   - flow: YAML with lists and mappings in brackets, as people write it
//
// The libraries decode the same bytes into trees of maps, with any field and without
// positions, because one type for all kinds does not exist: encoding/json, the json/v2 on
// which the loader builds, and yaml/v3. Processor time is the time of all threads,
// including the collection of garbage.
func BenchmarkDocuments(b *testing.B) {
	for _, s := range []struct {
		name string
		make func() ([]map[string]any, error)
	}{
		{"dataplanes", fleetDocuments},
		{"own-outbounds", ownDocuments},
		{"policies", func() ([]map[string]any, error) { return kubernetesPolicies(documents) }},
		{"permissions", permissionDocuments},
	} {
		trees, err := s.make()
		if err != nil {
			b.Fatal(err)
		}
		for _, form := range forms {
			inputs, err := form.write(trees)
			if err != nil {
				b.Fatal(err)
			}
			prefix := fmt.Sprintf("shape=%s/form=%s/impl=", s.name, form.name)
			loader := resource.Loader{Kinds: kinds.All()}
			b.Run(prefix+"meshmatch", func(b *testing.B) {
				var set *resource.Set
				measureDecoding(b, inputs, func() (err error) {
					set, err = loader.Decode(b.Context(), inputs...)
					return err
				})
				if n := len(set.Dataplanes) + len(set.Policies); n != documents {
					b.Fatalf("%d resources, want %d", n, documents)
				}
			})
			for _, library := range form.libraries {
				b.Run(prefix+library.name, func(b *testing.B) {
					measureDecoding(b, inputs, func() error {
						for _, in := range inputs {
							if err := library.decode(in.Data); err != nil {
								return err
							}
						}
						return nil
					})
				})
			}
		}
	}
}

const documents = 1_000

// measureDecoding measures decode in a process that has decoded before. Otherwise one iteration, all
// that a slow machine has time for, would also fill the pools of buffers.
func measureDecoding(b *testing.B, inputs []resource.Input, decode func() error) {
	if err := decode(); err != nil {
		b.Fatal(err)
	}
	size := 0
	for _, in := range inputs {
		size += len(in.Data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := usage.CPU()
	for b.Loop() {
		if err := decode(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(usage.CPU()-before)/float64(b.N), "cpu-ns/op")
}

// library decodes all documents of an input.
type library struct {
	name   string
	decode func([]byte) error
}

var (
	jsonLibraries = []library{{"encoding-json", decodeLinesV1}, {"json-v2", decodeLinesV2}}
	yamlLibraries = []library{{"yaml-v3", decodeYAML}}

	forms = []struct {
		name      string
		write     func([]map[string]any) ([]resource.Input, error)
		libraries []library
	}{
		{"lines", func(trees []map[string]any) ([]resource.Input, error) {
			return joined("f.json", trees, json.Marshal, "\n", "", "\n")
		}, nil},
		{"objects", objects, nil},
		{"list", func(trees []map[string]any) ([]resource.Input, error) {
			return joined("f.json", trees, json.Marshal, ",", `{"apiVersion":"v1","kind":"List","items":[`, `]}`)
		}, jsonLibraries},
		{"block", func(trees []map[string]any) ([]resource.Input, error) {
			return joined("f.yaml", trees, block, "---\n", "", "")
		}, yamlLibraries},
		{"kubectl", func(trees []map[string]any) ([]resource.Input, error) {
			list := map[string]any{"apiVersion": "v1", "kind": "List", "items": trees}
			return joined("f.yaml", []map[string]any{list}, yaml.Marshal, "", "", "")
		}, yamlLibraries},
		{"flow", func(trees []map[string]any) ([]resource.Input, error) {
			return joined("f.yaml", trees, flow, "---\n", "", "")
		}, yamlLibraries},
	}
)

// fleetDocuments are dataplanes that call the same ten services.
func fleetDocuments() ([]map[string]any, error) {
	set := &resource.Set{}
	for j := range documents {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 10))
	}
	return treesOf(set)
}

// ownDocuments are dataplanes that all call other services, so no two lists of outbounds are
// equal.
func ownDocuments() ([]map[string]any, error) {
	set := &resource.Set{}
	for j := range documents {
		d := shape.Dataplane(j, 10)
		for i := range d.Outbounds {
			d.Outbounds[i].Tags = resource.Tags{{Key: resource.ServiceTag, Value: shape.Service(j + i)}}
		}
		set.Dataplanes = append(set.Dataplanes, d)
	}
	return treesOf(set)
}

func permissionDocuments() ([]map[string]any, error) {
	return treesOf(&resource.Set{Policies: shape.Permissions(kinds.All().Lookup("MeshTrafficPermission"), documents)})
}

func treesOf(set *resource.Set) (trees []map[string]any, err error) {
	lines, err := shape.JSON(set)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(lines) {
		var tree map[string]any
		if err := json.Unmarshal(line, &tree); err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// joined returns one input with all documents.
func joined(name string, trees []map[string]any, marshal func(any) ([]byte, error), between, before, after string) ([]resource.Input, error) {
	var texts [][]byte
	for _, tree := range trees {
		text, err := marshal(tree)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	file := before + string(bytes.Join(texts, []byte(between))) + after
	return []resource.Input{{Name: name, Data: []byte(file)}}, nil
}

func objects(trees []map[string]any) (inputs []resource.Input, err error) {
	for i, tree := range trees {
		text, err := json.Marshal(tree)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, resource.Input{Name: fmt.Sprintf("etcd:/%d@1", i), Data: text})
	}
	return inputs, nil
}

// block returns a document of YAML in block style without managedFields.
func block(tree any) ([]byte, error) { return yaml.Marshal(withoutManagedFields(tree)) }

func withoutManagedFields(tree any) any {
	object := maps.Clone(tree.(map[string]any))
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		object["metadata"] = metadata
	}
	return object
}

// flow returns a document of YAML in which only the outer two levels are in block style.
func flow(tree any) ([]byte, error) {
	var document yaml.Node
	if err := document.Encode(withoutManagedFields(tree)); err != nil {
		return nil, err
	}
	for i := 1; i < len(document.Content); i += 2 {
		for _, inner := range document.Content[i].Content {
			if inner.Kind != yaml.ScalarNode {
				inner.Style = yaml.FlowStyle
			}
		}
	}
	return yaml.Marshal(&document)
}

func decodeLinesV1(data []byte) error {
	for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
		var tree any
		if err := decoder.Decode(&tree); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func decodeLinesV2(data []byte) error {
	for decoder := jsontext.NewDecoder(bytes.NewReader(data)); ; {
		var tree any
		if err := jsonv2.UnmarshalDecode(decoder, &tree); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func decodeYAML(data []byte) error {
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var tree any
		if err := decoder.Decode(&tree); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
