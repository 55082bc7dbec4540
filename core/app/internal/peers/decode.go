package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	kubernetesyaml "sigs.k8s.io/yaml"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// decoding compares reading a file of 1,000 dataplanes with two inbounds and ten outbounds
// each: with libraries, and with Kuma, which also validates.
func decoding() []comparison {
	const subject = "Reading: a file of 1,000 dataplanes with 10 outbounds"
	withKuma := func(format, input string) comparison {
		return comparison{
			subject: subject, label: "read " + format, work: "decode and validate " + format, input: input + ", with the fields that Kuma has", unit: "s", kuma: true,
			note: "meshmatch uses all processors, rejects unknown fields and keeps positions; Kuma reads one document after the other, as its API and kumactl do, and ignores unknown fields",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				return decodeWithKuma(ctx, s.pick(1_000, 20), format)
			},
		}
	}
	return []comparison{
		{
			subject: subject, label: "decode JSON", work: "decode JSON", input: "one document on each line", unit: "s",
			note:    "meshmatch validates, rejects unknown fields and keeps positions, on all processors; package json decodes into structs, on one",
			prepare: func(ctx context.Context, s size) (*contest, error) { return decodeJSON(ctx, s.pick(1_000, 20)) },
		},
		{
			subject: subject, label: "decode YAML", work: "decode YAML", input: "block style", unit: "s",
			note:    "meshmatch validates, rejects unknown fields and keeps positions, on all processors; the libraries decode into structs and reject unknown fields, on one",
			prepare: func(ctx context.Context, s size) (*contest, error) { return decodeYAML(ctx, s.pick(1_000, 20)) },
		},
		withKuma("JSON", "one document on each line"),
		withKuma("YAML", "block style"),
	}
}

// fleetOf returns n dataplanes of the fleet.
func fleetOf(n int) *resource.Set {
	set := &resource.Set{}
	for j := range n {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 10))
	}
	return set
}

func decodeJSON(ctx context.Context, n int) (*contest, error) {
	file, err := shape.JSON(fleetOf(n))
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
	file, parts, err := yamlFile(fleetOf(n))
	if err != nil {
		return nil, err
	}
	return &contest{contenders: []contender{
		decoder(meshmatch, strict(ctx, "dataplanes.yaml", file)),
		decoder("go.yaml.in/yaml/v3", func() (any, error) {
			var documents []shape.Document
			d := yaml.NewDecoder(bytes.NewReader(file))
			d.KnownFields(true)
			for {
				var document shape.Document
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

// decodeWithKuma reads dataplanes without what Kuma's version does not have: names and protocols
// of inbounds.
func decodeWithKuma(ctx context.Context, n int, format string) (*contest, error) {
	set := fleetOf(n)
	for _, d := range set.Dataplanes {
		kumaDataplane(d)
		for i := range d.Inbounds {
			d.Inbounds[i].Name, d.Inbounds[i].Protocol = "", ""
		}
	}
	file, err := shape.JSON(set)
	if err != nil {
		return nil, err
	}
	parts := slices.Collect(bytes.Lines(file))
	if format == "YAML" {
		if file, parts, err = yamlFile(set); err != nil {
			return nil, err
		}
	}
	format = strings.ToLower(format)
	do := command{Do: format}
	for _, part := range parts {
		do.Texts = append(do.Texts, string(part))
	}
	c := &contest{contenders: []contender{decoder(meshmatch, strict(ctx, "dataplanes."+format, file))}}
	return c, c.addKuma(ctx, &resource.Set{}, do, func(all []json.RawMessage) (string, error) {
		documents := make([]shape.Document, len(all))
		for i, text := range all {
			if err := json.Unmarshal(text, &documents[i]); err != nil {
				return "", err
			}
		}
		return documentsJSON(documents)
	})
}

// yamlFile returns the dataplanes of a set as one YAML stream and as single documents.
func yamlFile(set *resource.Set) (file []byte, parts [][]byte, err error) {
	lines, err := shape.JSON(set)
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
