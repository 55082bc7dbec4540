package resource_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// formats are the formats of resource files; name is also the extension, except for
// list.
var formats = []struct {
	name  string
	write func(*resource.Set) ([]byte, error)
}{{"json", shape.JSON}, {"yaml", yamlStream}, {"list", list}}

// list returns the file of [shape.JSON] as one JSON object, a List of Kubernetes.
func list(set *resource.Set) ([]byte, error) {
	lines, err := shape.JSON(set)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	file.WriteString(`{"apiVersion":"v1","kind":"List","items":[` + "\n")
	file.Write(bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(",\n")))
	file.WriteString("\n]}\n")
	return file.Bytes(), nil
}

// yamlStream returns the file of [shape.JSON] in YAML, in block style.
func yamlStream(set *resource.Set) ([]byte, error) {
	lines, err := shape.JSON(set)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	encoder := yaml.NewEncoder(&file)
	for line := range bytes.Lines(lines) {
		var tree any
		if err := json.Unmarshal(line, &tree); err != nil {
			return nil, err
		}
		if err := encoder.Encode(tree); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), encoder.Close()
}

// A file of each format decodes to the resources from which it was made.
func TestFiles(t *testing.T) {
	timeout, permission := meshtimeout.Kind(), meshtrafficpermission.Kind()
	set := &resource.Set{Policies: append(shape.Fleet(timeout, 30), shape.Permissions(permission, 3)...)}
	for j := range 3 {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 2))
	}
	loader := resource.Loader{Kinds: resource.NewKinds(timeout, permission)}
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			file, err := format.write(set)
			if err != nil {
				t.Fatal(err)
			}
			got, err := loader.Decode(t.Context(), resource.Input{Name: "file." + format.name, Data: file})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(set.Dataplanes, got.Dataplanes, cmpopts.IgnoreFields(resource.Meta{}, "Pos"), cmpopts.IgnoreUnexported(resource.Dataplane{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			again, err := format.write(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(file), string(again)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
