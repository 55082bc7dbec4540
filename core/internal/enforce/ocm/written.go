package ocm

import "github.com/meshmatch/meshmatch/core/resource"

// RuleDocument is the document of a PlacementRule.
type RuleDocument struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Metadata   MetadataDocument `json:"metadata"`
	Spec       RuleSpec         `json:"spec"`
}

// MetadataDocument is the metadata of a document.
type MetadataDocument struct {
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Labels    resource.Tags `json:"labels,omitzero"`
}

// RuleSpec is the spec of a [RuleDocument].
type RuleSpec struct {
	Clusters          []ClusterName     `json:"clusters,omitempty"`
	DataplaneSelector *SelectorDocument `json:"dataplaneSelector,omitempty"`
	Dataplanes        []DataplaneName   `json:"dataplanes,omitempty"`
}

// ClusterName identifies a cluster.
type ClusterName struct {
	Name string `json:"name"`
}

// SelectorDocument is a label selector. An empty selector selects all objects.
type SelectorDocument struct {
	MatchExpressions []RequirementDocument `json:"matchExpressions,omitempty"`
}

// RequirementDocument is a requirement of a label selector.
type RequirementDocument struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values"`
}

// BindingDocument is the document of a PlacementBinding.
type BindingDocument struct {
	APIVersion       string            `json:"apiVersion"`
	Kind             string            `json:"kind"`
	Metadata         MetadataDocument  `json:"metadata"`
	BindingOverrides OverridesDocument `json:"bindingOverrides"`
	PlacementRef     RefDocument       `json:"placementRef"`
	Subjects         []RefDocument     `json:"subjects"`
}

// OverridesDocument contains the overrides of a binding.
type OverridesDocument struct {
	RemediationAction string `json:"remediationAction"`
}

// RefDocument refers to a resource in the namespace of the document.
type RefDocument struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// NewRuleDocument returns the document of a PlacementRule.
func NewRuleDocument(namespace, name string, spec RuleSpec) RuleDocument {
	return RuleDocument{ruleGroup + "/v1", PlacementRuleKind, MetadataDocument{Name: name, Namespace: namespace}, spec}
}

// NewBindingDocument returns the document of a PlacementBinding that enforces a policy of a
// mesh where the PlacementRule of the same name places it.
func NewBindingDocument(p *resource.Policy, name string) BindingDocument {
	return BindingDocument{
		policyGroup + "/v1", PlacementBindingKind,
		MetadataDocument{name, p.Namespace, resource.Tags{{Key: resource.MeshLabel, Value: p.Mesh}}},
		OverridesDocument{Enforce.String()},
		RefDocument{ruleGroup, PlacementRuleKind, name},
		[]RefDocument{{meshGroup, p.Kind, p.Name}},
	}
}
