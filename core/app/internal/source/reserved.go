package source

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/meshmatch/meshmatch/core/resource"
)

// reservation are the names of Secrets that a document may give to the CA of a mesh. A
// MeshIdentity or a Mesh that does not load may name any of its texts. Proxies do not get these
// Secrets, as they do not get those of a document that loads (SPEC 17.4).
type reservation struct {
	mesh  string // empty: any
	all   bool   // the document is not JSON: it may name any Secret
	names map[string]bool
}

// reservedBy returns the reservation of an object that does not load; nil if it is neither a
// MeshIdentity nor a Mesh, by its key or its text.
func reservedBy(raw *Object) *reservation {
	r := &reservation{names: map[string]bool{raw.ID.Name: true}}
	var document any
	isOfCA := func(kind any) bool { return kind == resource.MeshIdentityKind || kind == resource.MeshKind }
	if json.Unmarshal(raw.Data, &document) != nil {
		r.all = isOfCA(raw.ID.Kind) || strings.Contains(string(raw.Data), resource.MeshIdentityKind) || strings.Contains(string(raw.Data), "mtls")
	}
	head, _ := document.(map[string]any)
	if !r.all && !isOfCA(raw.ID.Kind) && !isOfCA(head["type"]) && !isOfCA(head["kind"]) {
		return nil
	}
	switch {
	case raw.AnyMesh || raw.ID.Name == "":
	case raw.ID.Kind == resource.MeshKind && raw.ID.Mesh == "":
		r.mesh = raw.ID.Name
	default:
		r.mesh = raw.ID.Mesh
	}
	r.addTexts(document)
	return r
}

// addTexts adds all texts of a document.
func (r *reservation) addTexts(value any) {
	switch value := value.(type) {
	case string:
		r.names[value] = true
	case map[string]any:
		for _, inner := range value {
			r.addTexts(inner)
		}
	case []any:
		for _, inner := range value {
			r.addTexts(inner)
		}
	}
}

// has reports whether a Secret is reserved: it is named, or Kuma gives its name to the generated
// CA of an identity that is named.
func (r *reservation) has(secret resource.ID) bool {
	if r.mesh != "" && r.mesh != secret.Mesh {
		return false
	}
	return r.all || r.names[secret.Name] ||
		r.names[strings.TrimSuffix(secret.Name, "-root-ca")] || r.names[strings.TrimSuffix(secret.Name, "-private-key")]
}

// reservations are for all objects of a store that do not load. They are immutable; nil is none.
type reservations struct{ list []*reservation }

func (r *reservations) has(value any) bool {
	m := identity(value)
	return r != nil && m != nil && m.Kind == resource.SecretKind && slices.ContainsFunc(r.list, func(r *reservation) bool { return r.has(m.ID) })
}

// without returns a set without the Secrets that are reserved: the set itself if it has none.
func (r *reservations) without(set *resource.Set) *resource.Set {
	if set == nil || !slices.ContainsFunc(set.Objects, func(o resource.Object) bool { return r.has(o) }) {
		return set
	}
	rest := *set
	rest.Objects = slices.DeleteFunc(slices.Clone(set.Objects), func(o resource.Object) bool { return r.has(o) })
	return &rest
}
