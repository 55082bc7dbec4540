package ocm

import "github.com/meshmatch/meshmatch/core/resource"

// Documents returns the types of the documents that become [Resources], and the
// types in OCM's groups that are skipped. They are for [resource.Loader].
func Documents() []resource.DocumentType {
	types := []resource.DocumentType{
		version("v1", resource.DocumentOf[policyDoc](policyGroup, PolicyKind)),
		version("v1beta1", resource.DocumentOf[policySetDoc](policyGroup, PolicySetKind)),
		version("v1", resource.DocumentOf[bindingDoc](policyGroup, PlacementBindingKind)),
		version("v1", resource.DocumentOf[placementRuleDoc](ruleGroup, PlacementRuleKind)),
		version("v1beta1", resource.DocumentOf[placementDoc](placementGroup, PlacementKind)),
		version("v1beta1", resource.DocumentOf[placementDecisionDoc](placementGroup, PlacementDecisionKind)),
		version("v1", resource.DocumentOf[managedClusterDoc](placementGroup, ManagedClusterKind)),
		resource.DocumentOf[rolloutDoc]("", RolloutKind),
	}
	for _, unused := range []struct {
		group string
		kinds []string
	}{
		{policyGroup, []string{"CertificatePolicy", "ConfigurationPolicy", "OperatorPolicy", "PolicyAutomation"}},
		{ruleGroup, []string{"Channel", "Deployable", "GitOpsCluster", "HelmRelease", "MulticlusterApplicationSetReport", "Subscription", "SubscriptionReport", "SubscriptionStatus"}},
		{placementGroup, []string{"AddOnPlacementScore", "ClusterClaim", "ManagedClusterSet", "ManagedClusterSetBinding"}},
	} {
		for _, kind := range unused.kinds {
			types = append(types, resource.UnusedDocument(unused.group, kind))
		}
	}
	return types
}

// version returns the type with the version that OCM serves. Only clusters have no
// namespace.
func version(name string, t resource.DocumentType) resource.DocumentType {
	t.Version, t.ClusterScoped = name, t.Kind == ManagedClusterKind
	return t
}

// Read returns the resources among the documents of a set, in the order of the set. A
// loader sorts a set by identity.
func Read(set *resource.Set) *Resources {
	all := &Resources{}
	for _, document := range set.Documents {
		all.Add(ResourceOf(document))
	}
	return all
}

// Add appends a resource to the list of its kind. Nil is ignored.
func (all *Resources) Add(r Resource) {
	switch r := r.(type) {
	case *Policy:
		all.Policies = append(all.Policies, r)
	case *PolicySet:
		all.PolicySets = append(all.PolicySets, r)
	case *PlacementBinding:
		all.PlacementBindings = append(all.PlacementBindings, r)
	case *PlacementRule:
		all.PlacementRules = append(all.PlacementRules, r)
	case *Placement:
		all.Placements = append(all.Placements, r)
	case *PlacementDecision:
		all.PlacementDecisions = append(all.PlacementDecisions, r)
	case *ManagedCluster:
		all.ManagedClusters = append(all.ManagedClusters, r)
	case *Rollout:
		all.Rollouts = append(all.Rollouts, r)
	}
}

// NewDocument returns the document of a resource that was made in Go, for the set of a
// batch: [resource.Set.Documents].
func NewDocument(r Resource) *resource.Document {
	return &resource.Document{Meta: *r.Identity(), Value: r}
}

// ResourceOf returns the resource of a document, or nil if the document is of another
// type.
func ResourceOf(document *resource.Document) Resource {
	switch d := document.Value.(type) {
	case Resource:
		return d
	case interface{ resource(*resource.Meta) Resource }:
		return d.resource(&document.Meta)
	}
	return nil
}

// IsKind reports whether a kind is a kind of this package.
func IsKind(kind string) bool {
	switch kind {
	case PolicyKind, PolicySetKind, PlacementBindingKind, PlacementRuleKind, PlacementKind, PlacementDecisionKind, ManagedClusterKind, RolloutKind:
		return true
	}
	return false
}
