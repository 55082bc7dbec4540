package ocm

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The kinds of resources in this package.
const (
	PolicyKind            = "Policy"
	PolicySetKind         = "PolicySet"
	PlacementBindingKind  = "PlacementBinding"
	PlacementRuleKind     = "PlacementRule"
	PlacementKind         = "Placement"
	PlacementDecisionKind = "PlacementDecision"
	ManagedClusterKind    = "ManagedCluster"
	RolloutKind           = "Rollout"
)

// Resources contains a list for each kind, in any order.
type Resources struct {
	Policies           []*Policy
	PolicySets         []*PolicySet
	PlacementBindings  []*PlacementBinding
	PlacementRules     []*PlacementRule
	Placements         []*Placement
	PlacementDecisions []*PlacementDecision
	ManagedClusters    []*ManagedCluster
	Rollouts           []*Rollout
}

// Action is the remediation action of a policy.
type Action uint8

// The actions. A Policy without an action has Inform.
const (
	Inform Action = iota
	Enforce
	// InformOnly is Inform, but no binding can override it.
	InformOnly
)

// String returns the action in lower case.
func (a Action) String() string { return [...]string{"inform", "enforce", "informonly"}[a] }

// Policy is an OCM policy: bindings place it on clusters.
type Policy struct {
	resource.Meta
	Action Action
	// Disabled removes the policy from every cluster.
	Disabled bool
}

// PolicySet is a list of policies of its namespace that are bound together.
type PolicySet struct {
	resource.Meta
	Policies   []string
	Exclusions []Exclusion
}

// Exclusion removes clusters from the clusters to which a [PolicySet] binds one
// of its policies. It has no effect on the policy's other bindings.
type Exclusion struct {
	Policy   string
	Clusters []string
}

// PlacementBinding binds policies and sets of its namespace to the clusters of
// a placement of its namespace.
type PlacementBinding struct {
	resource.Meta
	Placement Ref // [PlacementRuleKind] or [PlacementKind]
	Subjects  []Subject
	// Enforce overrides the action of the subjects.
	Enforce bool
	// SubFilter restricts the override to clusters on which another binding, without a
	// subFilter, places the policy.
	SubFilter bool
}

// Ref names a resource in the namespace of the resource that contains it.
type Ref struct {
	Kind string
	Name string
	// Pos and Path are the place of the reference; zero if it was not read from a
	// file.
	Pos  diag.Position
	Path string
}

// Subject is a subject of a binding: a Policy, a PolicySet, or a policy of a mesh.
// For the latter, Kind is the kind of the mesh policy, such as MeshTimeout.
type Subject struct {
	Ref
	Mesh bool // the subject is a policy of a mesh
}

// PlacementRule is a placement that selects clusters itself.
type PlacementRule struct {
	resource.Meta
	// Decided reports whether status.decisions is present. If so, Decisions is
	// the clusters, and Clusters and ClusterSelector have no effect.
	Decided   bool
	Decisions []string
	// Clusters restricts the clusters by name; nil if the field is absent.
	Clusters []string
	// ClusterSelector restricts the clusters by the labels of their
	// ManagedClusters; nil if the field is absent.
	ClusterSelector *LabelSelector
	// DataplaneSelector restricts the dataplanes within the clusters by their
	// labels; nil if the field is absent. It has no effect on an OCM policy.
	DataplaneSelector *LabelSelector
	// Dataplanes restricts the dataplanes by name; nil if the field is absent. It has no
	// effect on an OCM policy.
	Dataplanes []DataplaneName
}

// SelectsAnywhere reports whether the rule is only about dataplanes. Such a rule selects
// dataplanes of every zone, and dataplanes without a zone.
func (r *PlacementRule) SelectsAnywhere() bool {
	return !r.Decided && r.Clusters == nil && r.ClusterSelector == nil && (r.DataplaneSelector != nil || r.Dataplanes != nil)
}

// DataplaneName identifies a dataplane.
type DataplaneName struct {
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Compare orders dataplanes.
func (n DataplaneName) Compare(o DataplaneName) int {
	return cmp.Or(strings.Compare(n.Mesh, o.Mesh), strings.Compare(n.Namespace, o.Namespace), strings.Compare(n.Name, o.Name))
}

// Placement is a named placement. Its clusters are listed in its
// [PlacementDecision] resources.
type Placement struct{ resource.Meta }

// PlacementDecision lists a part of the clusters of a placement.
type PlacementDecision struct {
	resource.Meta
	Placement string // of the same namespace; "" if the label is absent
	Group     Group
	Clusters  []string
}

// Group is a decision group of a placement.
type Group struct {
	Index int
	Name  string
}

// ManagedCluster contains the labels of the cluster with its name.
type ManagedCluster struct{ resource.Meta }
