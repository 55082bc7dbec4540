package resource

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
