package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/strict"
)

// universalDoc is a resource in the universal spelling.
type universalDoc struct {
	Type       resourceKind      `json:"type"`
	Mesh       string            `json:"mesh,omitzero"`
	Name       resourceName      `json:"name"`
	Labels     map[string]string `json:"labels,omitzero"`
	Spec       *strict.At        `json:"spec,omitzero"`
	Networking *strict.At        `json:"networking,omitzero"`
}

// kubernetesDoc is a resource in the Kubernetes spelling.
type kubernetesDoc struct {
	APIVersion apiVersion         `json:"apiVersion"`
	Kind       resourceKind       `json:"kind"`
	Metadata   kubernetesMetadata `json:"metadata"`
	Spec       *strict.At         `json:"spec,omitzero"`
}

type apiVersion string

func (apiVersion) Enum() []string { return []string{"kuma.io/v1alpha1"} }

type kubernetesMetadata struct {
	Name              resourceName      `json:"name"`
	Namespace         string            `json:"namespace,omitzero"`
	Labels            map[string]string `json:"labels,omitzero"`
	CreationTimestamp string            `json:"creationTimestamp,omitzero"`
}

type resourceKind string

func (k resourceKind) Validate(at *strict.At) {
	if k == "" {
		at.Errorf("write one such as MeshTimeout", "a resource's kind must not be empty")
	}
}

type resourceName string

func (n resourceName) Validate(at *strict.At) {
	if n == "" {
		at.Errorf("", "a resource's name must not be empty")
	}
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

// decoder turns documents into resources. It goes on after errors, so that a
// mistake in one part of a document does not hide those in others; what it has
// kept by then may be incomplete, and is thrown away by whoever asks the sink.
type decoder struct {
	kinds *Kinds
	out   Set
}

// body is what a document says beside its identity.
type body struct {
	at, kindAt       *strict.At
	spec, networking *strict.At // nil: left out
}

// document decodes one document in either spelling and keeps the resource.
func (d *decoder) document(at *strict.At) {
	if at.Has("apiVersion") || at.Has("metadata") {
		d.kubernetes(at)
	} else {
		d.universal(at)
	}
}

func (d *decoder) kubernetes(at *strict.At) {
	var doc kubernetesDoc
	strict.DecodeExcept(at, &doc, "mesh")
	if at.Has("mesh") {
		at.Field("mesh").Errorf("use the label "+MeshLabel, "a mesh is not named here in the Kubernetes spelling")
	}
	meta := Meta{
		ID:     ID{Kind: string(doc.Kind), Namespace: doc.Metadata.Namespace, Name: string(doc.Metadata.Name)},
		Labels: NewTags(doc.Metadata.Labels),
		Pos:    at.Pos(),
	}
	d.resource(meta, body{at: at, kindAt: at.Field("kind"), spec: doc.Spec})
}

func (d *decoder) universal(at *strict.At) {
	var doc universalDoc
	var others []string
	if at.Field("type").Text() == MeshKind {
		others = meshFields
	}
	strict.DecodeExcept(at, &doc, others...)
	for _, field := range others {
		if at.Has(field) {
			strict.Skim(at.Field(field))
		}
	}
	meta := Meta{
		ID:     ID{Kind: string(doc.Type), Mesh: doc.Mesh, Name: string(doc.Name)},
		Labels: NewTags(doc.Labels),
		Pos:    at.Pos(),
	}
	meta.Namespace = meta.Labels.Value(NamespaceLabel)
	d.resource(meta, body{at: at, kindAt: at.Field("type"), spec: doc.Spec, networking: doc.Networking})
}

func (d *decoder) resource(meta Meta, b body) {
	if meta.Mesh == "" {
		meta.Mesh = meta.Labels.Value(MeshLabel)
	}
	if meta.Mesh == "" {
		meta.Mesh = defaultMesh
	}
	switch meta.Kind {
	case "": // reported already
	case MeshKind:
		if b.spec != nil {
			strict.Skim(b.spec)
		}
		meta.Mesh, meta.Namespace = meta.Name, ""
		d.out.Meshes = append(d.out.Meshes, &Mesh{Meta: meta})
	case DataplaneKind:
		d.out.Dataplanes = append(d.out.Dataplanes, b.dataplane(meta))
	default:
		kind := d.kinds.Lookup(meta.Kind)
		if kind == nil {
			b.kindAt.Errorf(d.kindHint(meta.Kind), "unknown kind %q", meta.Kind)
			return
		}
		d.out.Policies = append(d.out.Policies, b.policy(kind, meta))
	}
}

func (d *decoder) kindHint(word string) string {
	known := append(d.kinds.Names(), MeshKind, DataplaneKind)
	if hint := strict.DidYouMean(word, known); hint != "" {
		return hint
	}
	return "one of " + strings.Join(known, ", ")
}

func (b *body) policy(kind *Kind, meta Meta) *Policy {
	if b.networking != nil {
		b.networking.Errorf("remove it", "belongs to a Dataplane")
	}
	if b.spec == nil {
		b.at.Field("spec").Errorf("", "required field is missing")
		return &Policy{Meta: meta, Type: kind}
	}
	return decodePolicy(kind, meta, b.spec)
}

// dataplane finds a Dataplane's networking, which may stand at the top or
// below spec (SPEC 1.1).
func (b *body) dataplane(meta Meta) *Dataplane {
	networking := b.networking
	if b.spec != nil {
		var doc struct {
			Networking *strict.At `json:"networking,omitzero"`
		}
		strict.Decode(b.spec, &doc)
		if doc.Networking != nil && networking != nil {
			doc.Networking.Errorf("remove one", "networking stands at the top and below spec")
		}
		if networking == nil {
			networking = doc.Networking
		}
	}
	if networking == nil {
		b.at.Field("networking").Errorf("", "required field is missing")
		return &Dataplane{Meta: meta}
	}
	return decodeDataplane(meta, networking)
}
