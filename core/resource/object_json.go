package resource

// MarshalJSON prints the object in the spelling of [Meta.marshal], without its status and
// creation time, which the control plane writes.
func (o *ObjectOf[S]) MarshalJSON() ([]byte, error) {
	if o.Kind == ConfigKind { // its name contains the mesh
		return MarshalInline(printedUniversal{o.Kind, "", o.Name, o.namespacedLabels()}, &o.Spec)
	}
	return o.marshal(o.Mesh, &o.Spec, objectKinds[o.Kind].flat)
}
