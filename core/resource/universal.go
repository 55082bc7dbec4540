package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// universalDoc is a resource in the universal spelling.
type universalDoc struct {
	Type       resourceKind  `json:"type"`
	Mesh       string        `json:"mesh,omitzero"`
	Name       resourceName  `json:"name"`
	Labels     Tags          `json:"labels,omitzero"`
	Spec       *strict.Value `json:"spec,omitzero"`
	Networking *strict.Value `json:"networking,omitzero"`
}

// universalHead are the fields that every document in the universal spelling
// may have, including the fields that a live system adds (SPEC 1.2).
var (
	universalHead = append([]string{"type", "name", "labels"}, liveFields[:3]...)
	liveFields    = []string{"creationTime", "modificationTime", "kri", "status"}
	// Those of a Mesh and of a Dataplane, with the fields that are decoded apart.
	liveMesh      = slices.Concat(liveFields, meshFields)
	liveDataplane = slices.Concat(liveFields, dataplaneFields)
)

func (d *decoder) universal(in *strict.Value) {
	kind := in.FieldText("type")
	if kind == ConfigKind && d.universalConfig(in) || d.skipUnused(in, "type", kind) || d.registered(in, "", kind, universalMeta) {
		return
	}
	if kind := objectKinds[kind]; kind != nil {
		d.universalObject(kind, in)
		return
	}
	doc := &d.universalDoc
	*doc = universalDoc{}
	except := liveFields
	switch kind {
	case MeshKind:
		except = liveMesh
	case DataplaneKind:
		except = liveDataplane
	}
	if flatKind(kind) {
		strict.DecodeExcept(in, doc, except...)
	} else {
		decodeHead(in, doc, except...)
	}
	at := in.At()
	meta := newMeta(at, at, string(doc.Type), string(doc.Name), doc.Labels)
	meta.Mesh = doc.Mesh
	validateWord(at, "mesh", doc.Mesh)
	meta.Namespace = meta.Labels.Value(NamespaceLabel)
	d.resource(meta, body{at: at, kindField: "type", document: in, top: in, spec: doc.Spec})
}

// flatKind reports whether documents of a kind that is no object have their content at the top
// level.
func flatKind(kind string) bool { return kind == MeshKind || kind == DataplaneKind }

// universalMeta decodes the identity of a document of a registered type. The
// type decodes the other fields.
func universalMeta(in *strict.Value) Meta {
	var doc struct {
		Type   resourceKind `json:"type"`
		Name   resourceName `json:"name"`
		Labels Tags         `json:"labels,omitzero"`
	}
	strict.DecodePart(in, &doc)
	meta := newMeta(in.At(), in.At(), string(doc.Type), string(doc.Name), doc.Labels)
	meta.Namespace = meta.Labels.Value(NamespaceLabel)
	return meta
}

// newMeta returns the identity of a document. The labels that are a part of it are also names.
func newMeta(at, labelled *diag.At, kind, name string, labels Tags) Meta {
	for _, key := range []string{MeshLabel, NamespaceLabel} {
		if value := labels.Value(key); !isWord(value) {
			refuseWord(labelled.Field("labels").Field(key), value)
		}
	}
	return Meta{ID: ID{Kind: kind, Name: name}, Labels: labels, Pos: at.Pos()}
}
