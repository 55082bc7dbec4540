package resource

import (
	"iter"
	"reflect"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// DocumentType describes documents that a [Loader] reads in addition to the
// resources of a mesh, such as the placements of Open Cluster Management.
// [DocumentOf] and [UnusedDocument] return one.
type DocumentType struct {
	// Group is the API group, such as cluster.open-cluster-management.io; every
	// version of it is accepted. Documents of the empty group have the
	// universal spelling: type, name and labels.
	Group string
	Kind  string
	// Version and ClusterScoped are for a CustomResourceDefinition of the kind: its
	// version, without which it has none, and whether its objects have no namespace.
	Version       string
	ClusterScoped bool
	// schema is the generated schema of the fields in addition to the identity.
	schema string
	// decode reads everything except the identity; nil: the documents are
	// skipped.
	decode func(in *strict.Value) any
}

// Document is a decoded document of a registered [DocumentType]. Mesh is
// empty.
type Document struct {
	Meta
	Group string
	Value any // a *T; see [DocumentOf]
}

// DocumentOf returns the type of documents that package strict decodes to a *T.
// T is a struct whose json tags name the fields next to the identity, such as
// spec. A field status is dropped, unless T has one.
func DocumentOf[T any](group, kind string) DocumentType {
	except := universalHead
	if group != "" {
		except = kubernetesHead
	}
	if !hasField(reflect.TypeFor[T](), "status") {
		except = append([]string{"status"}, except...)
	}
	schema := ""
	if value, ok := any((*T)(nil)).(described); ok {
		schema = value.Schema()
	}
	return DocumentType{Group: group, Kind: kind, schema: schema, decode: func(in *strict.Value) any {
		value := new(T)
		decodeHead(in, value, except...)
		return value
	}}
}

// UnusedDocument returns the type of documents that are skipped and counted in
// [Set.Skipped]. If any kind of a group is registered, other kinds of the group
// are errors.
func UnusedDocument(group, kind string) DocumentType { return DocumentType{Group: group, Kind: kind} }

func hasField(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

// DocumentsOf yields the identity and the value of each document of s whose
// value is a *T, in the order of their identities.
func DocumentsOf[T any](s *Set) iter.Seq2[*Meta, *T] {
	return func(yield func(*Meta, *T) bool) {
		for _, doc := range s.Documents {
			if value, ok := doc.Value.(*T); ok && !yield(&doc.Meta, value) {
				return
			}
		}
	}
}
