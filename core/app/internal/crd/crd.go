package crd

import (
	"maps"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Definition is a CustomResourceDefinition, with the fields that this package sets.
type Definition struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata is the metadata of a [Definition].
type Metadata struct {
	Name string `json:"name"` // PLURAL.GROUP
}

// Spec is the spec of a [Definition].
type Spec struct {
	Group    string    `json:"group"`
	Names    Names     `json:"names"`
	Scope    string    `json:"scope"`
	Versions []Version `json:"versions"`
}

// Names are the names of a kind.
type Names struct {
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames,omitzero"`
	Categories []string `json:"categories,omitzero"`
}

// Version is a version of a kind.
type Version struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	Schema  struct {
		OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
	} `json:"schema"`
}

// Definitions returns the definitions of the kinds of a loader, sorted by group and kind.
func Definitions(kinds *resource.Kinds, documents []resource.DocumentType) []Definition {
	return lists.Map(resource.Shapes(kinds, documents), definition)
}

func definition(shape resource.Shape) Definition {
	plural := Plural(shape.Kind)
	d := Definition{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Metadata: Metadata{plural + "." + shape.Group}}
	d.Spec = Spec{
		Group: shape.Group, Scope: "Namespaced",
		Names: Names{Kind: shape.Kind, ListKind: shape.Kind + "List", Plural: plural, Singular: strings.ToLower(shape.Kind)},
	}
	if shape.ClusterScoped {
		d.Spec.Scope = "Cluster"
	}
	if shape.Group == resource.KumaGroup {
		d.Spec.Names.Categories = []string{"kuma"}
	}
	// A name of one letter is left to the user's own kinds.
	if len(shape.Short) > 1 {
		d.Spec.Names.ShortNames = []string{shape.Short}
	}
	properties := map[string]any{
		"apiVersion": map[string]any{"type": "string"},
		"kind":       map[string]any{"type": "string"},
		"metadata":   map[string]any{"type": "object"},
		"status":     map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	}
	maps.Copy(properties, shape.Properties)
	version := Version{Name: shape.Version, Served: true, Storage: true}
	version.Schema.OpenAPIV3Schema = map[string]any{"type": "object", "properties": properties}
	if len(shape.Required) > 0 {
		version.Schema.OpenAPIV3Schema["required"] = shape.Required
	}
	d.Spec.Versions = []Version{version}
	return d
}

// Plural returns the plural of a kind, as Kuma and Open Cluster Management write it.
func Plural(kind string) string {
	word := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(word, "s"), strings.HasSuffix(word, "sh"), strings.HasSuffix(word, "ch"), strings.HasSuffix(word, "x"):
		return word + "es"
	case strings.HasSuffix(word, "y") && !strings.ContainsAny(word[len(word)-2:len(word)-1], "aeiou"):
		return word[:len(word)-1] + "ies"
	}
	return word + "s"
}
