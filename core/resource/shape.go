package resource

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Shape describes the objects of one kind on Kubernetes.
type Shape struct {
	Group, Version, Kind string
	// Short is the short name of a kind of a mesh, otherwise empty.
	Short string
	// ClusterScoped objects have no namespace.
	ClusterScoped bool
	// Properties are the schemas of the fields in addition to apiVersion, kind, metadata
	// and status; Required are the fields that must be present.
	Properties jsonSchema
	Required   []string
}

// requestMatch is a match of `rules`.
var requestMatch described = (*conf.Match)(nil)

// clusterScoped are the kinds of Kuma whose objects have no namespace.
var clusterScoped = []string{MeshKind, ZoneKind, MeshGatewayKind, MeshGatewayRouteKind}

// Shapes returns the kinds that a [Loader] with these kinds and documents reads on
// Kubernetes, sorted by group and kind.
func Shapes(kinds *Kinds, documents []DocumentType) []Shape {
	var all []Shape
	add := func(kind, short string, spec jsonSchema, optional bool) {
		s := Shape{Group: KumaGroup, Version: KumaVersion, Kind: kind, Short: short, ClusterScoped: slices.Contains(clusterScoped, kind)}
		s.Properties = jsonSchema{"mesh": jsonSchema{"type": "string"}, "spec": spec}
		if !optional {
			s.Required = []string{"spec"}
		}
		all = append(all, s)
	}
	for _, kind := range kinds.All() {
		add(kind.Name, kind.Short, kind.SpecSchema(), false)
	}
	add(MeshKind, fixedKinds[MeshKind], schemaOf((*meshDoc)(nil).Schema()), true)
	dataplane := schemaOf((*dataplaneDoc)(nil).Schema())
	dataplane["required"] = []string{"networking"}
	add(DataplaneKind, dataplaneShort, dataplane, false)
	for _, name := range objectNames() {
		if name == ConfigKind || name == SecretKind {
			continue // on Kubernetes a ConfigMap, and a Secret that is not read
		}
		kind := objectKinds[name]
		spec := jsonSchema{"type": "object"} // of a kind without fields
		if s, ok := kind.make().spec().(described); ok {
			spec = schemaOf(s.Schema())
		}
		add(name, kind.short, spec, kind.optional)
	}
	for _, t := range documents {
		if t.Version == "" || t.decode == nil {
			continue
		}
		s := Shape{Group: t.Group, Version: t.Version, Kind: t.Kind, ClusterScoped: t.ClusterScoped}
		fields := schemaOf(t.schema)
		s.Properties, _ = fields["properties"].(jsonSchema)
		required, _ := fields["required"].([]any)
		for _, name := range required {
			s.Required = append(s.Required, name.(string))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Shape) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	return all
}
