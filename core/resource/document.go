package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/strict"
)

// universalDoc is a resource in the universal spelling.
type universalDoc struct {
	Type       string            `json:"type"`
	Mesh       *string           `json:"mesh,omitzero"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels,omitzero"`
	Spec       *strict.At        `json:"spec,omitzero"`
	Networking *strict.At        `json:"networking,omitzero"`
}

// kubernetesDoc is a resource in the Kubernetes spelling.
type kubernetesDoc struct {
	APIVersion apiVersion         `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Metadata   kubernetesMetadata `json:"metadata"`
	Spec       *strict.At         `json:"spec,omitzero"`
}

type apiVersion string

func (apiVersion) Enum() []string { return []string{"kuma.io/v1alpha1"} }

type kubernetesMetadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitzero"`
	Labels            map[string]string `json:"labels,omitzero"`
	CreationTimestamp string            `json:"creationTimestamp,omitzero"`
}

const defaultMesh = "default"

// The resource types that are no policies.
const (
	MeshKind      = "Mesh"
	DataplaneKind = "Dataplane"
)

// meshFields are what a Mesh document says of matters that are not ours, such
// as its certificates; they are passed over.
var meshFields = []string{"constraints", "logging", "meshServices", "metrics", "mtls", "networking", "routing", "skipCreatingInitialPolicies", "tracing"}

// decoder turns documents into resources.
type decoder struct {
	kinds *Kinds
	out   Set
}

// document decodes one document in either spelling and keeps the resource.
func (d *decoder) document(at *strict.At) {
	var (
		meta       Meta
		spec       *strict.At
		networking *strict.At
		kindField  = "type"
	)
	if at.Has("apiVersion") || at.Has("metadata") {
		var doc kubernetesDoc
		if !strict.Decode(at, &doc) {
			return
		}
		kindField = "kind"
		meta.ID = ID{Kind: doc.Kind, Namespace: doc.Metadata.Namespace, Name: doc.Metadata.Name}
		meta.Labels, spec = NewTags(doc.Metadata.Labels), doc.Spec
	} else {
		var doc universalDoc
		var others []string
		if at.Field("type").Text() == MeshKind {
			others = meshFields
		}
		if !strict.DecodeExcept(at, &doc, others...) {
			return
		}
		meta.ID = ID{Kind: doc.Type, Name: doc.Name}
		meta.Labels, spec, networking = NewTags(doc.Labels), doc.Spec, doc.Networking
		meta.Namespace = meta.Labels.Value(NamespaceLabel)
		if doc.Mesh != nil {
			meta.Mesh = *doc.Mesh
		}
	}
	if meta.Mesh == "" {
		meta.Mesh = defaultMesh
		if label := meta.Labels.Value(MeshLabel); label != "" {
			meta.Mesh = label
		}
	}
	meta.Pos = at.Pos()
	if !d.named(at, &meta) {
		return
	}
	d.resource(at, kindField, meta, spec, networking)
}

func (d *decoder) named(at *strict.At, meta *Meta) bool {
	if meta.Name == "" {
		at.Field("name").Errorf("", "a resource's name must not be empty")
		return false
	}
	return true
}

func (d *decoder) resource(at *strict.At, kindField string, meta Meta, spec, networking *strict.At) {
	switch meta.Kind {
	case MeshKind:
		meta.Mesh, meta.Namespace = meta.Name, ""
		d.out.Meshes = append(d.out.Meshes, &Mesh{Meta: meta})
		return
	case DataplaneKind:
		if networking = dataplaneNetworking(at, spec, networking); networking == nil {
			return
		}
		if dataplane := decodeDataplane(meta, networking); dataplane != nil {
			d.out.Dataplanes = append(d.out.Dataplanes, dataplane)
		}
		return
	}
	kind := d.kinds.Lookup(meta.Kind)
	if kind == nil {
		at.Field(kindField).Errorf(strict.DidYouMean(meta.Kind, append(d.kinds.Names(), MeshKind, DataplaneKind)), "unknown kind %q", meta.Kind)
		return
	}
	switch {
	case networking != nil:
		at.Field("networking").Errorf("remove it", "belongs to a Dataplane")
	case spec == nil:
		at.Field("spec").Errorf("", "required field is missing")
	default:
		if policy := decodePolicy(kind, meta, spec); policy != nil {
			d.out.Policies = append(d.out.Policies, policy)
		}
	}
}

// dataplaneNetworking finds a Dataplane's networking, which may stand at the
// top or below spec (SPEC 1.1).
func dataplaneNetworking(at, spec, networking *strict.At) *strict.At {
	if spec != nil {
		var doc struct {
			Networking *strict.At `json:"networking,omitzero"`
		}
		if !strict.Decode(spec, &doc) {
			return nil
		}
		if doc.Networking != nil && networking != nil {
			doc.Networking.Errorf("remove one", "networking stands at the top and below spec")
			return nil
		}
		if doc.Networking != nil {
			networking = doc.Networking
		}
	}
	if networking == nil {
		at.Field("networking").Errorf("", "required field is missing")
	}
	return networking
}

// Set is resources, each slice sorted by identity: mesh, kind, namespace,
// name.
type Set struct {
	Meshes     []*Mesh
	Dataplanes []*Dataplane
	Policies   []*Policy
}

func (s *Set) join(o Set) {
	s.Meshes = append(s.Meshes, o.Meshes...)
	s.Dataplanes = append(s.Dataplanes, o.Dataplanes...)
	s.Policies = append(s.Policies, o.Policies...)
}

// MeshNames returns the name of every mesh that a resource is in, sorted.
func (s *Set) MeshNames() []string {
	var names []string
	for _, m := range s.Meshes {
		names = append(names, m.Name)
	}
	for _, d := range s.Dataplanes {
		names = append(names, d.Mesh)
	}
	for _, p := range s.Policies {
		names = append(names, p.Mesh)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
