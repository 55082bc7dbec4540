package fuzz

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// hostileValues are values that a file may contain in any place.
var hostileValues = []string{
	"!!int", "!!float", "!!bool", "!!null", "!!str", "!!int x", "!!bool yes", "!!null x", "!!float .inf", "!!map []", "!!seq {}", "!!str {}", "!!set {a: }",
	"!!binary aGk=", "!custom x", "!custom {a: b}", "!<tag:yaml.org,2002:int>", "-0", ".nan", "~", "''", "[]", "{}", "[~]", "{a: !!int }", "[!custom x]", "&a [*a]", "{<<: {a: b}}",
	"{? [a] : b}", "{!!int : b}", "99999999999999999999", "\"\\0\"",
}

// freeForm has the places with values of any shape.
const freeForm = `
type: MeshProxyPatch
name: patch
spec:
  default:
    appendModifications:
    - cluster:
        operation: Patch
        jsonPatches: [{op: add, path: /a, value: {b: [c]}}]
---
type: MeshAccessLog
name: log
spec:
  to:
  - default:
      backends:
      - type: OpenTelemetry
        openTelemetry: {endpoint: "a:1", body: {b: [c]}, attributes: [{key: k, value: v}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, annotations: {a: b}, managedFields: [{a: b}]}
spec: {to: [{default: {idleTimeout: 1s}}]}
status: {a: [b]}
---
kind: List
apiVersion: v1
metadata: {continue: ""}
items: [{type: Mesh, name: m, mtls: {a: b}}]
---
type: Mesh
name: m
spec: {meshServices: {mode: Everywhere}, a: [b]}
---
type: Dataplane
name: d
networking: {address: 10.0.0.1, admin: {port: 9901}, inbound: [{port: 80, tags: {kuma.io/service: a}, serviceProbe: {tcp: {}}}]}
metrics: {type: prometheus, conf: {port: 1, path: /a}}
`

// Every value of every document of testdata is replaced by every hostile value. The
// document must load, or its errors must have positions.
func TestTagsEverywhere(t *testing.T) {
	sequential(t)
	documents := strings.Split(freeForm, "---\n")
	for _, pattern := range []string{"../testdata/demo/*.yaml", "../testdata/seeds/*.yaml", "../testdata/rollout/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, strings.Split(string(data), "\n---\n")...)
		}
	}
	loader := limitedLoader(kinds.All())
	seen := map[string]bool{} // documents with the same structure differ only in texts
	places := 0
	for _, document := range documents {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(document), &root); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		for _, place := range placesOf(&root, "") {
			if seen[place.path] {
				continue
			}
			seen[place.path] = true
			places++
			text := withPlaceholder(t, &root, place.node)
			for _, value := range hostileValues {
				hostile := strings.Replace(text, placeholder, value, 1)
				if _, err := loader.Decode(t.Context(), resource.Input{Name: decodedFile, Data: []byte(hostile)}); err != nil {
					if err := checkErrors(err, false); err != nil {
						t.Errorf("%v:\n%s", err, hostile)
					}
					if strings.Contains(err.Error(), "internal error") {
						t.Errorf("%v:\n%s", err, hostile)
					}
				}
			}
		}
	}
	if places < 300 {
		t.Errorf("only %d places", places)
	}
}

const placeholder = "the-placeholder"

type valuePlace struct {
	path string // begins with the kind of the document
	node *yaml.Node
}

// placesOf returns the values of a document with their paths, which begin with its kind.
func placesOf(n *yaml.Node, path string) []valuePlace {
	if n.Kind == yaml.MappingNode && path == "" {
		for i, name := range n.Content {
			if name.Value == "type" || name.Value == "kind" {
				path = n.Content[i+1].Value
				break
			}
		}
	}
	var out []valuePlace
	for i, inner := range n.Content {
		at := path
		switch {
		case n.Kind == yaml.SequenceNode:
			at += "[]"
		case n.Kind == yaml.MappingNode && i%2 == 0:
			continue
		case n.Kind == yaml.MappingNode:
			at += "." + n.Content[i-1].Value
		}
		out = append(append(out, valuePlace{at, inner}), placesOf(inner, at)...)
	}
	return out
}

// withPlaceholder prints a document with a node replaced by the placeholder.
func withPlaceholder(t *testing.T, root, node *yaml.Node) string {
	t.Helper()
	original := *node
	*node = yaml.Node{Kind: yaml.ScalarNode, Value: placeholder}
	defer func() { *node = original }()
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
