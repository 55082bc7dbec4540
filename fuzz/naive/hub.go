package naive

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Hub contains the resources of Open Cluster Management that determine where policies are
// enforced (SPEC 8.1). [ReadHub] makes one of documents. A test that has the resources as
// Go values fills it from their JSON: its fields have the names that theirs have.
type Hub struct {
	Policies           []*hubPolicy
	PolicySets         []*policySet
	PlacementBindings  []*placementBinding
	PlacementRules     []*placementRule
	Placements         []*hubResource
	PlacementDecisions []*placementDecision
	ManagedClusters    []*hubResource
}

type hubResource struct {
	Kind, Namespace, Name string
	Labels                map[string]string
}

type hubPolicy struct {
	hubResource
	Action   int // of actionNames
	Disabled bool
}

// actionNames are the remediation actions, in lower case.
var actionNames = []string{"inform", "enforce", "informonly"}

const (
	inform = iota
	enforce
)

type policySet struct {
	hubResource
	Policies   []string
	Exclusions []struct {
		Policy   string
		Clusters []string
	}
}

type placementBinding struct {
	hubResource
	Placement          struct{ Kind, Name string }
	Subjects           []bindingSubject
	Enforce, SubFilter bool
}

type bindingSubject struct {
	Kind, Name string
	Mesh       bool // a policy of a mesh
}

// placementRule has nil for a field that is absent.
type placementRule struct {
	hubResource
	Decided           bool
	Decisions         []string // if Decided
	Clusters          []string
	ClusterSelector   *labelSelector
	DataplaneSelector *labelSelector
	Dataplanes        []struct{ Mesh, Namespace, Name string }
}

type placementDecision struct {
	hubResource
	Placement string
	Clusters  []string
}

type labelSelector struct {
	Labels      map[string]string
	Expressions []struct {
		Key, Operator string
		Values        []string
	}
}

// ReadHub returns the resources among the documents of a file. Documents of other kinds are
// ignored. Each document is correct, because a loader has accepted the file.
func ReadHub(documents []map[string]any) *Hub {
	h := &Hub{}
	for _, document := range documents {
		version, _ := document["apiVersion"].(string)
		group, _, _ := strings.Cut(version, "/")
		if !strings.HasSuffix(group, "open-cluster-management.io") {
			continue
		}
		d := readHubDocument(document)
		r := hubResource{d.Kind, d.Metadata.Namespace, d.Metadata.Name, d.Metadata.Labels}
		switch d.Kind {
		case "Policy":
			h.Policies = append(h.Policies, &hubPolicy{r, d.Spec.action(), d.Spec.Disabled})
		case "PolicySet":
			h.PolicySets = append(h.PolicySets, d.policySet(r))
		case "PlacementBinding":
			h.PlacementBindings = append(h.PlacementBindings, d.binding(r))
		case "PlacementRule":
			h.PlacementRules = append(h.PlacementRules, d.rule(r))
		case "Placement":
			h.Placements = append(h.Placements, &r)
		case "PlacementDecision":
			of := d.Metadata.Labels["cluster.open-cluster-management.io/placement"]
			h.PlacementDecisions = append(h.PlacementDecisions, &placementDecision{r, of, d.Status.clusters()})
		case "ManagedCluster":
			r.Namespace = "" // clusters have no namespace
			h.ManagedClusters = append(h.ManagedClusters, &r)
		}
	}
	return h
}

func readHubDocument(document map[string]any) *hubDocument {
	text, err := json.Marshal(document)
	if err != nil {
		panic(fmt.Sprintf("naive: a document has no JSON: %v", err))
	}
	d := &hubDocument{}
	if err := json.Unmarshal(text, d); err != nil {
		panic(fmt.Sprintf("naive: a document that a loader accepted cannot be read: %v", err))
	}
	return d
}

// hubDocument has the fields of all kinds that affect where a policy is enforced.
type hubDocument struct {
	Kind     string
	Metadata struct {
		Namespace, Name string
		Labels          map[string]string
	}
	Spec   hubSpec
	Status hubStatus

	PlacementRef              struct{ Kind, Name string }
	Subjects                  []struct{ APIGroup, Kind, Name string }
	SubFilter                 string
	RemediationActionOverride *struct {
		RemediationAction string
		SubFilter         bool
	}
	BindingOverrides *struct{ RemediationAction string }
}

type hubSpec struct {
	Disabled          bool
	RemediationAction string

	Policies   []any // names in a PolicySet
	Exclusions []struct {
		PolicyName   string
		ClusterNames []string
	}

	Clusters          []struct{ Name string }
	ClusterSelector   *selectorDocument
	DataplaneSelector *selectorDocument
	Dataplanes        []struct{ Mesh, Namespace, Name string }
}

type hubStatus struct {
	Decisions []struct{ ClusterName string }
}

type selectorDocument struct {
	MatchLabels      map[string]string
	MatchExpressions []struct {
		Key, Operator string
		Values        []string
	}
}

func (s *hubSpec) action() int {
	for i, name := range actionNames {
		if strings.EqualFold(name, s.RemediationAction) {
			return i
		}
	}
	return inform
}

func (d *hubDocument) policySet(r hubResource) *policySet {
	set := &policySet{hubResource: r}
	for _, name := range d.Spec.Policies {
		set.Policies = append(set.Policies, name.(string))
	}
	for _, e := range d.Spec.Exclusions {
		set.Exclusions = append(set.Exclusions, struct {
			Policy   string
			Clusters []string
		}{e.PolicyName, e.ClusterNames})
	}
	return set
}

// binding reads both forms of the override: that of proposal 003, and the released one.
func (d *hubDocument) binding(r hubResource) *placementBinding {
	b := &placementBinding{hubResource: r, Placement: d.PlacementRef, SubFilter: d.SubFilter != ""}
	if o := d.RemediationActionOverride; o != nil {
		b.Enforce, b.SubFilter = strings.EqualFold(o.RemediationAction, "enforce"), o.SubFilter
	}
	if o := d.BindingOverrides; o != nil {
		b.Enforce = strings.EqualFold(o.RemediationAction, "enforce")
	}
	for _, s := range d.Subjects {
		b.Subjects = append(b.Subjects, bindingSubject{s.Kind, s.Name, s.APIGroup == "kuma.io"})
	}
	return b
}

func (d *hubDocument) rule(r hubResource) *placementRule {
	rule := &placementRule{
		hubResource: r, Decided: d.Status.Decisions != nil, Decisions: d.Status.clusters(),
		ClusterSelector: d.Spec.ClusterSelector.selector(), DataplaneSelector: d.Spec.DataplaneSelector.selector(),
		Dataplanes: d.Spec.Dataplanes,
	}
	if d.Spec.Clusters != nil {
		rule.Clusters = []string{}
		for _, c := range d.Spec.Clusters {
			rule.Clusters = append(rule.Clusters, c.Name)
		}
	}
	for i := range rule.Dataplanes {
		if rule.Dataplanes[i].Mesh == "" {
			rule.Dataplanes[i].Mesh = resource.DefaultMesh
		}
	}
	return rule
}

func (s *hubStatus) clusters() []string {
	names := []string{}
	for _, decision := range s.Decisions {
		names = append(names, decision.ClusterName)
	}
	return names
}

func (s *selectorDocument) selector() *labelSelector {
	if s == nil {
		return nil
	}
	return &labelSelector{Labels: s.MatchLabels, Expressions: s.MatchExpressions}
}
