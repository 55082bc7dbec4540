package resource

import "slices"

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
