package resource

import "github.com/meshmatch/meshmatch/core/conf"

// printedUniversal is a document in the universal spelling without the spec.
type printedUniversal struct {
	Type   string `json:"type"`
	Mesh   string `json:"mesh,omitzero"`
	Name   string `json:"name"`
	Labels Tags   `json:"labels,omitzero"`
}

// printedKubernetes is a document in the Kubernetes spelling.
type printedKubernetes struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   printedMetadata `json:"metadata"`
	Spec       any             `json:"spec"`
}

type printedMetadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Labels    Tags   `json:"labels,omitzero"`
}

// marshal prints a document of the resource in the universal spelling. A resource
// that is not in the namespace where it was made uses the Kubernetes spelling. The
// universal spelling has one place for both namespaces. The universal spelling
// prints mesh; flat means that it has the fields of the spec at the top level.
func (m *Meta) marshal(mesh string, spec any, flat bool) ([]byte, error) {
	if m.isElsewhere() {
		head := printedMetadata{m.Name, m.Namespace, m.Labels}
		if _, labelled := m.Labels.Get(MeshLabel); !labelled && mesh != "" {
			head.Labels = m.Labels.With(MeshLabel, mesh)
		}
		return conf.Marshal(printedKubernetes{"kuma.io/v1alpha1", m.Kind, head, spec})
	}
	head := printedUniversal{m.Kind, mesh, m.Name, m.namespacedLabels()}
	if flat {
		return MarshalInline(head, spec)
	}
	return conf.Marshal(struct {
		printedUniversal
		Spec any `json:"spec"`
	}{head, spec})
}

// isElsewhere reports whether the resource has a namespace and was not made in it: it
// is a copy in the namespace of a control plane.
func (m *Meta) isElsewhere() bool {
	home, labelled := m.Labels.Get(NamespaceLabel)
	return m.Namespace != "" && (labelled && home != m.Namespace || !labelled && m.Origin() == GlobalOrigin)
}

// namespacedLabels returns the labels including the namespace, for which the
// universal spelling has no other place.
func (m *Meta) namespacedLabels() Tags {
	if m.Labels.Value(NamespaceLabel) == m.Namespace {
		return m.Labels
	}
	if m.Namespace != "" {
		return m.Labels.With(NamespaceLabel, m.Namespace)
	}
	labels := m.Labels.Map()
	delete(labels, NamespaceLabel)
	return NewTags(labels)
}
