package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
	kubernetesyaml "sigs.k8s.io/yaml"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// decoding compares reading a file of 1,000 dataplanes with two inbounds and ten outbounds
// each.
func decoding() []comparison {
	const subject = "Reading: a file of 1,000 dataplanes with 10 outbounds"
	return []comparison{
		{
			subject: subject, label: "decode JSON", work: "decode JSON", input: "one document on each line", unit: "s",
			note:    "meshmatch validates, rejects unknown fields and keeps positions, on all processors; package json decodes into structs, on one",
			prepare: func(ctx context.Context, s size) (*contest, error) { return decodeJSON(ctx, s.of(1_000, 20)) },
		},
		{
			subject: subject, label: "decode YAML", work: "decode YAML", input: "block style", unit: "s",
			note:    "meshmatch validates, rejects unknown fields and keeps positions, on all processors; sigs.k8s.io/yaml rejects unknown fields; both libraries use one processor",
			prepare: func(ctx context.Context, s size) (*contest, error) { return decodeYAML(ctx, s.of(1_000, 20)) },
		},
	}
}

// dataplaneFile returns the JSON documents of n dataplanes.
func dataplaneFile(n int) ([]byte, error) {
	set := &resource.Set{}
	for j := range n {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 10))
	}
	return shape.JSON(set)
}

func decodeJSON(ctx context.Context, n int) (*contest, error) {
	file, err := dataplaneFile(n)
	if err != nil {
		return nil, err
	}
	return &contest{contenders: []contender{
		decoder(meshmatch, strict(ctx, "dataplanes.json", file)),
		decoder("encoding/json", func() (any, error) {
			var documents []shape.Document
			for d := json.NewDecoder(bytes.NewReader(file)); ; {
				var document shape.Document
				if err := d.Decode(&document); errors.Is(err, io.EOF) {
					return documents, nil
				} else if err != nil {
					return nil, err
				}
				documents = append(documents, document)
			}
		}),
	}}, nil
}

func decodeYAML(ctx context.Context, n int) (*contest, error) {
	file, parts, err := yamlFile(n)
	if err != nil {
		return nil, err
	}
	return &contest{contenders: []contender{
		decoder(meshmatch, strict(ctx, "dataplanes.yaml", file)),
		decoder("go.yaml.in/yaml/v3", func() (any, error) {
			var documents []any
			for d := yaml.NewDecoder(bytes.NewReader(file)); ; {
				var document any
				if err := d.Decode(&document); errors.Is(err, io.EOF) {
					return documents, nil
				} else if err != nil {
					return nil, err
				}
				documents = append(documents, document)
			}
		}),
		decoder("sigs.k8s.io/yaml", func() (any, error) {
			var documents []shape.Document
			for _, part := range parts {
				var document shape.Document
				if err := kubernetesyaml.UnmarshalStrict(part, &document); err != nil {
					return nil, err
				}
				documents = append(documents, document)
			}
			return documents, nil
		}),
	}}, nil
}

// yamlFile returns the documents as one YAML stream and as single documents.
func yamlFile(n int) (file []byte, parts [][]byte, err error) {
	lines, err := dataplaneFile(n)
	if err != nil {
		return nil, nil, err
	}
	for line := range bytes.Lines(lines) {
		part, err := kubernetesyaml.JSONToYAML(line)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
	}
	return bytes.Join(parts, []byte("---\n")), parts, nil
}

// strict decodes a file by meshmatch's loader.
func strict(ctx context.Context, name string, file []byte) func() (any, error) {
	loader := resource.Loader{Kinds: resource.NewKinds()}
	return func() (any, error) { return loader.Decode(ctx, resource.Input{Name: name, Data: file}) }
}

// decoder decodes into a *resource.Set or a slice of documents.
func decoder(name string, decode func() (any, error)) contender {
	return contender{
		name: name,
		answer: func() (string, error) {
			decoded, err := decode()
			if err != nil {
				return "", err
			}
			return documentsJSON(decoded)
		},
		operate: repeat(func() error {
			_, err := decode()
			return err
		}),
	}
}

// documentsJSON returns documents as one JSON list with sorted keys.
func documentsJSON(decoded any) (string, error) {
	if set, ok := decoded.(*resource.Set); ok {
		lines, err := shape.JSON(set)
		if err != nil {
			return "", err
		}
		decoded = json.RawMessage(fmt.Sprintf("[%s]", bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(","))))
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return "", err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return "", err
	}
	text, err = json.Marshal(tree)
	return string(text), err
}
