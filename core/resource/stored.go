package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// InputOrigin is the origin of an [Input]: who wrote its documents (SPEC 1.2).
type InputOrigin uint8

const (
	// InputFile has documents of people, and documents that a control plane printed, which
	// have fields that only a control plane writes.
	InputFile InputOrigin = iota
	// InputStored is an object of a control plane, as the API of Kubernetes gives it.
	InputStored
	// InputWritten has documents of people only, as etcd does (SPEC 14.2).
	InputWritten
)

// printedFields are fields of a document that only a control plane writes. printedMeta are
// such fields of the metadata in the Kubernetes spelling.
var (
	printedFields = []string{"creationTime", "modificationTime", "kri", "status", "uid", "resourceVersion", "snis"}
	printedMeta   = []string{"uid", "resourceVersion", "managedFields"}
)

// isStored reports whether a control plane has printed or stored a document.
func (d *decoder) isStored(in *strict.Value) bool {
	switch {
	case d.origin == InputStored || d.inRESTList:
		return true
	case d.origin == InputWritten || in.Kind() != strict.Mapping:
		return false
	case slices.ContainsFunc(printedFields, in.Has):
		return true
	}
	metadata := in.Field("metadata")
	return metadata != nil && (slices.ContainsFunc(printedMeta, metadata.Has) || metadata.FieldText("creationTimestamp") != "")
}

// readAs sets what an unknown field of a document is, and whether its fields may be in snake
// case. A permission in whose spec a field is not known could allow more than was meant, so such
// a field is an error in any document.
func readAs(in *strict.Value, kind string, stored bool) {
	doc := in.Document()
	doc.Unknown, doc.SnakeCase = strict.UnknownFails, protobufKinds[kind]
	switch {
	case stored && kind == permissionKind:
		doc.Unknown = strict.UnknownLimits
	case stored:
		doc.Unknown = strict.UnknownWarns
	}
}

// decodeHead decodes the fields around the content of a document. What a control plane adds
// there is dropped.
func decodeHead(in *strict.Value, target any, except ...string) {
	doc := in.Document()
	inside := doc.Unknown
	// A permission whose targetRef is dropped would hold for the whole mesh.
	misplaced := inside == strict.UnknownLimits && slices.ContainsFunc(permissionFields, in.Has)
	if inside != strict.UnknownFails && !misplaced {
		doc.Unknown = strict.UnknownDropped
	}
	strict.DecodeExcept(in, target, except...)
	doc.Unknown = inside
}

// permissionFields are the fields of the spec of a permission.
var permissionFields = []string{"targetRef", "from", "rules"}

const permissionKind = "MeshTrafficPermission"

// protobufKinds are the kinds of Kuma whose content is a protobuf message. Its JSON has two
// spellings of a field: enabledBackend and enabled_backend.
var protobufKinds = map[string]bool{
	MeshKind: true, DataplaneKind: true, MeshGatewayKind: true, MeshGatewayRouteKind: true,
	ZoneKind: true, ZoneIngressKind: true, ZoneEgressKind: true, SecretKind: true,
}
