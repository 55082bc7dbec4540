package ocm

import (
	"cmp"
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The labels of a PlacementDecision.
const (
	PlacementLabel  = "cluster.open-cluster-management.io/placement"
	groupNameLabel  = "cluster.open-cluster-management.io/decision-group-name"
	groupIndexLabel = "cluster.open-cluster-management.io/decision-group-index"
)

//confgen:schema
type placementRuleDoc struct {
	Spec   placementRuleSpec `json:"spec,omitzero"`
	Status decisions         `json:"status,omitzero"`
}

type placementRuleSpec struct {
	Clusters []struct {
		Name objectName `json:"name"`
	} `json:"clusters,omitzero"`
	ClusterSelector   *labelSelectorDoc `json:"clusterSelector,omitzero"`
	DataplaneSelector *labelSelectorDoc `json:"dataplaneSelector,omitzero"`
	Dataplanes        []struct {
		Mesh      string     `json:"mesh,omitzero"`
		Namespace string     `json:"namespace,omitzero"`
		Name      objectName `json:"name"`
	} `json:"dataplanes,omitzero"`

	// OCM's scheduler uses the following fields; its result is
	// status.decisions.
	ClusterConditions []*strict.Value `json:"clusterConditions,omitzero"`
	ClusterReplicas   *strict.Value   `json:"clusterReplicas,omitzero"`
	Policies          []*strict.Value `json:"policies,omitzero"`
	ResourceHint      *strict.Value   `json:"resourceHint,omitzero"`
	SchedulerName     string          `json:"schedulerName,omitzero"`
}

// Validate warns about fields that would restrict the clusters further, if no
// scheduler has evaluated them.
func (d *placementRuleDoc) Validate(at *diag.At) {
	if d.Status.present {
		return
	}
	const what, hint = "has no effect: only status.decisions can restrict the clusters further", "add status.decisions, or list the clusters"
	if len(d.Spec.ClusterConditions) > 0 {
		at.Field("spec").Field("clusterConditions").Warnf(diag.FieldNotUsed, hint, what)
	}
	if d.Spec.ClusterReplicas != nil {
		at.Field("spec").Field("clusterReplicas").Warnf(diag.FieldNotUsed, hint, what)
	}
}

func (d *placementRuleDoc) resource(meta *resource.Meta) Resource {
	r := &PlacementRule{
		Meta:              *meta,
		Decided:           d.Status.present,
		Decisions:         d.Status.clusters,
		ClusterSelector:   d.Spec.ClusterSelector.selector(),
		DataplaneSelector: d.Spec.DataplaneSelector.selector(),
	}
	if d.Spec.Clusters != nil {
		r.Clusters = []string{}
		for _, c := range d.Spec.Clusters {
			r.Clusters = append(r.Clusters, string(c.Name))
		}
	}
	if d.Spec.Dataplanes != nil {
		r.Dataplanes = []DataplaneName{}
		for _, named := range d.Spec.Dataplanes {
			r.Dataplanes = append(r.Dataplanes, DataplaneName{cmp.Or(named.Mesh, resource.DefaultMesh), named.Namespace, string(named.Name)})
		}
	}
	return r
}

// decisions is status.decisions; the other fields of a status are dropped.
//
//confgen:openapi {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
type decisions struct {
	present  bool
	clusters []string
}

// DecodeAt reads the decisions of a status.
func (d *decisions) DecodeAt(in *strict.Value) {
	field := in.Field("decisions")
	if field == nil || field.IsNull() {
		return
	}
	var list []struct {
		ClusterName      objectName `json:"clusterName"`
		ClusterNamespace string     `json:"clusterNamespace,omitzero"`
		Reason           string     `json:"reason,omitzero"`
	}
	strict.Decode(field, &list)
	d.present, d.clusters = true, []string{}
	for _, decision := range list {
		d.clusters = append(d.clusters, string(decision.ClusterName))
	}
}

// placementDoc is a Placement. Its spec has no effect: the clusters of a placement are
// in its decisions.
//
//confgen:schema
type placementDoc struct {
	Spec struct {
		ClusterSets       []string        `json:"clusterSets,omitzero"`
		DecisionStrategy  *strict.Value   `json:"decisionStrategy,omitzero"`
		NumberOfClusters  *uint32         `json:"numberOfClusters,omitzero"`
		Predicates        []*strict.Value `json:"predicates,omitzero"`
		PrioritizerPolicy *strict.Value   `json:"prioritizerPolicy,omitzero"`
		SpreadPolicy      *strict.Value   `json:"spreadPolicy,omitzero"`
		Tolerations       []*strict.Value `json:"tolerations,omitzero"`
	} `json:"spec,omitzero"`
}

func (d *placementDoc) resource(meta *resource.Meta) Resource { return &Placement{*meta} }

//confgen:schema
type placementDecisionDoc struct {
	Status decisions `json:"status,omitzero"`
}

func (d *placementDecisionDoc) resource(meta *resource.Meta) Resource {
	index, err := strconv.Atoi(meta.Labels.Value(groupIndexLabel))
	if err != nil {
		index = 0 // like OCM
	}
	return &PlacementDecision{
		Meta:      *meta,
		Placement: meta.Labels.Value(PlacementLabel),
		Group:     Group{Index: index, Name: meta.Labels.Value(groupNameLabel)},
		Clusters:  d.Status.clusters,
	}
}

//confgen:schema
type managedClusterDoc struct {
	Spec struct {
		HubAcceptsClient            bool            `json:"hubAcceptsClient,omitzero"`
		LeaseDurationSeconds        *uint32         `json:"leaseDurationSeconds,omitzero"`
		ManagedClusterClientConfigs []*strict.Value `json:"managedClusterClientConfigs,omitzero"`
		Taints                      []*strict.Value `json:"taints,omitzero"`
	} `json:"spec,omitzero"`
}

func (d *managedClusterDoc) resource(meta *resource.Meta) Resource {
	c := &ManagedCluster{*meta}
	c.Namespace = "" // clusters have no namespace
	return c
}
