package resource

// WholeMesh returns the targetRef of kind Mesh.
func WholeMesh() TargetRef { return TargetRef{Kind: TargetMesh} }

// Service returns the targetRef of a MeshService.
func Service(name string) TargetRef { return TargetRef{Kind: TargetMeshService, Name: name} }

// ServiceSubset returns the targetRef of a MeshServiceSubset: a service with
// further tags.
func ServiceSubset(name string, tags map[string]string) TargetRef {
	return TargetRef{Kind: TargetMeshServiceSubset, Name: name, Tags: NewTags(tags)}
}

// Subset returns the targetRef of a MeshSubset: all objects with the tags.
func Subset(tags map[string]string) TargetRef {
	return TargetRef{Kind: TargetMeshSubset, Tags: NewTags(tags)}
}

// DataplanesWith returns the targetRef of the Dataplanes with labels.
func DataplanesWith(labels map[string]string) TargetRef {
	return TargetRef{Kind: TargetDataplane, Labels: NewTags(labels)}
}

// HTTPRoute returns the targetRef of a MeshHTTPRoute.
func HTTPRoute(name string) TargetRef { return TargetRef{Kind: TargetMeshHTTPRoute, Name: name} }
