package resource

import (
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// universalObject decodes an object in the universal spelling.
func (d *decoder) universalObject(kind *objectKind, in *strict.Value) {
	var head struct {
		Type   resourceKind  `json:"type"`
		Mesh   *string       `json:"mesh,omitzero"`
		Name   resourceName  `json:"name"`
		Labels Tags          `json:"labels,omitzero"`
		Spec   *strict.Value `json:"spec,omitzero"`
	}
	at, spec := in.At(), in
	except := slices.Clone(liveFields)
	if hasSNIs(in, kind.name) {
		except = append(except, snis)
	}
	if kind.flat {
		except = append(except, "type", "mesh", "name", "labels")
		strict.DecodePart(in, &head)
	} else {
		decodeHead(in, &head, except...)
		spec, except = head.Spec, nil
	}
	meta := newMeta(at, at, kind.name, string(head.Name), head.Labels)
	meta.Namespace = meta.Labels.Value(NamespaceLabel)
	if head.Mesh != nil {
		meta.Mesh = *head.Mesh
		validateWord(at, "mesh", meta.Mesh)
		if kind.global && meta.Mesh != "" {
			at.Field("mesh").Errorf(diag.WrongMesh, "remove it", "a %s belongs to no mesh", kind.name)
		}
	}
	d.object(kind, meta, objectParts{at: at, spec: spec, except: except, status: in.Field("status"), created: in.Field("creationTime")})
}

// snis is a field that a control plane of Kuma 2.14 prints at the top level of a destination:
// the server names of its ports. No answer depends on it.
const snis = "snis"

// hasSNIs reports whether a document of a kind has a list of server names at its top level.
func hasSNIs(in *strict.Value, kind string) bool {
	switch kind {
	case MeshServiceKind, MeshExternalServiceKind, MeshMultiZoneServiceKind:
		list := in.Field(snis)
		return list != nil && list.Kind() == strict.List
	}
	return false
}

// kubernetesObject decodes an object in the Kubernetes spelling, given its
// identity.
func (d *decoder) kubernetesObject(kind *objectKind, meta Meta, in, spec *strict.Value) {
	parts := objectParts{at: in.At(), spec: spec, status: in.Field("status")}
	if metadata := in.Field("metadata"); metadata != nil {
		parts.created = metadata.Field("creationTimestamp")
	}
	d.object(kind, meta, parts)
}

// objectParts are the parts of an object's document. Spec and status are nil if they
// are absent.
type objectParts struct {
	at      *diag.At
	spec    *strict.Value
	except  []string // fields of the mapping of the spec that do not belong to it
	status  *strict.Value
	created *strict.Value
}

func (d *decoder) object(kind *objectKind, meta Meta, parts objectParts) {
	switch {
	case kind.global:
		meta.Mesh = ""
	case meta.Mesh == "":
		meta.Mesh = meta.Labels.Value(MeshLabel)
	}
	if meta.Mesh == "" && !kind.global {
		meta.Mesh = DefaultMesh
	}
	object := kind.make()
	*object.Identity() = meta
	switch {
	case parts.spec != nil:
		strict.DecodeExcept(parts.spec, object.spec(), parts.except...)
	case !kind.optional:
		parts.at.Field("spec").Errorf(diag.MissingField, "", "required field is missing")
	}
	if kept, ok := object.(statused); ok && parts.status != nil {
		kept.decodeStatus(parts.status)
	}
	if parts.created != nil && !parts.created.IsNull() {
		var created time.Time
		strict.Decode(parts.created, &created)
		*object.created() = created
	}
	d.countObject(parts.at, kind)
	d.out.Objects = append(d.out.Objects, object)
}
