package enforce

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// name identifies a node: a resource, or something to which a resource refers.
type name struct {
	kind      string
	namespace string
	name      string
}

func nameOf(id *resource.ID) name { return name{id.Kind, id.Namespace, id.Name} }

func clusterName(cluster string) name { return name{kind: ocm.ManagedClusterKind, name: cluster} }

// subjectName returns the name of a subject of a binding in a namespace. The kinds of
// mesh policies have a separate space of names: an embedder may have a kind Policy.
func subjectName(namespace string, s *ocm.Subject) name {
	if s.Mesh {
		return meshPolicyName(s.Kind, namespace, s.Name)
	}
	return name{s.Kind, namespace, s.Name}
}

func meshPolicyName(kind, namespace, policy string) name {
	return name{meshPolicySpace + kind, namespace, policy}
}

// meshPolicySpace distinguishes the kinds of mesh policies from other kinds.
const meshPolicySpace = resource.KumaGroup + "/"

// node is a vertex of the graph of references: a resource, or a name to which a
// resource refers. A published node is immutable.
type node struct {
	name     name
	resource ocm.Resource // nil: there is no such resource
	// users contains the sorted ids of the resources that refer to the node. It
	// is empty for clusters, whose references are only counted.
	users []uint32

	// The following fields are derived from the resources.

	// selection is the selection of a placement; nil for other nodes.
	selection *selection
	// exposed equals selection if a binding overrides a policy of a mesh with it, otherwise
	// it is nil.
	exposed *selection
	// placement identifies the node, if it has or had an exposed selection.
	placement Placement
	// placements contains the sorted ids of the placements whose exposed
	// selection contains the cluster by name.
	placements []uint32
	// effect is the effect of the bindings on an OCM policy; nil for other nodes.
	effect *Effect
}

func (n *node) clone() *node {
	c := *n
	c.users, c.placements = slices.Clone(n.users), slices.Clone(n.placements)
	return &c
}

// references returns the names to which a resource refers. Clusters are separate: a
// change of a cluster reaches its users through the selections.
func references(r ocm.Resource) (names []name, clusters []string) {
	switch r := r.(type) {
	case *ocm.PlacementBinding:
		names = append(names, placementName(r))
		for i := range r.Subjects {
			names = append(names, subjectName(r.Namespace, &r.Subjects[i]))
		}
	case *ocm.PolicySet:
		for _, policy := range r.Policies {
			names = append(names, name{ocm.PolicyKind, r.Namespace, policy})
		}
		for _, e := range r.Exclusions {
			clusters = append(clusters, e.Clusters...)
		}
	case *ocm.PlacementDecision:
		names = append(names, name{ocm.PlacementKind, r.Namespace, r.Placement})
		clusters = r.Clusters
	case *ocm.PlacementRule:
		clusters = slices.Concat(r.Clusters, r.Decisions)
	}
	return names, clusters
}

// insert adds id to a sorted list that does not contain it.
func insert(list []uint32, id uint32) []uint32 {
	if at, found := slices.BinarySearch(list, id); !found {
		return slices.Insert(list, at, id)
	}
	return list
}

// remove removes id from a sorted list.
func remove(list []uint32, id uint32) []uint32 {
	if at, found := slices.BinarySearch(list, id); found {
		return slices.Delete(list, at, at+1)
	}
	return list
}
