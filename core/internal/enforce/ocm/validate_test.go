package ocm_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Resources that are made in Go have the same errors as documents, with the path of the
// field.
func TestValidate(t *testing.T) {
	meta := func(kind string) resource.Meta { return resource.Meta{ID: resource.ID{Kind: kind, Name: "r"}} }
	selector := func(e ocm.Requirement) *ocm.PlacementRule {
		return &ocm.PlacementRule{Meta: meta(ocm.PlacementRuleKind), ClusterSelector: &ocm.LabelSelector{Expressions: []ocm.Requirement{e}}}
	}
	rollout := func(change func(*ocm.Rollout)) *ocm.Rollout {
		r := &ocm.Rollout{Meta: meta(ocm.RolloutKind), Strategy: ocm.Strategy{Type: ocm.All}}
		change(r)
		return r
	}
	for _, test := range []struct {
		name string
		r    ocm.Resource
		want string
	}{
		{"valid", selector(ocm.Requirement{Key: "k", Operator: ocm.NotIn, Values: []string{"a"}}), ""},
		{"an unknown operator", selector(ocm.Requirement{Key: "k", Operator: "Is"}), `spec.clusterSelector.matchExpressions[0].operator: unknown value "Is"`},
		{"In without values", selector(ocm.Requirement{Key: "k", Operator: ocm.In}), `spec.clusterSelector.matchExpressions[0].values: operator In needs at least one value`},
		{
			"a bad label", &ocm.PlacementRule{Meta: meta(ocm.PlacementRuleKind), DataplaneSelector: &ocm.LabelSelector{Labels: resource.Tags{{Key: "k", Value: "a b"}}}},
			`spec.dataplaneSelector.matchLabels.k: a label value has`,
		},
		{"a placement of another kind", &ocm.PlacementBinding{Meta: meta(ocm.PlacementBindingKind), Placement: ocm.Ref{Kind: "Policy"}}, `placementRef.kind: must be PlacementRule or Placement, not "Policy"`},
		{
			"a subject of another kind", &ocm.PlacementBinding{
				Meta: meta(ocm.PlacementBindingKind), Placement: ocm.Ref{Kind: ocm.PlacementKind}, Subjects: []ocm.Subject{{Ref: ocm.Ref{Kind: "MeshTimeout"}}},
			},
			`subjects[0].kind: must be Policy or PolicySet, not "MeshTimeout"`,
		},
		{"an unknown action", &ocm.Policy{Meta: meta(ocm.PolicyKind), Action: 9}, "spec.remediationAction: unknown action 9"},
		{"another kind", &ocm.Placement{Meta: meta(ocm.PolicyKind)}, `kind: must be Placement, not "Policy"`},
		{"a valid rollout", rollout(func(r *ocm.Rollout) { r.Status = []ocm.ClusterStatus{{Cluster: "a", Status: ocm.Skip}} }), ""},
		{"a rollout without a type", rollout(func(r *ocm.Rollout) { r.Strategy.Type = "" }), `strategy.type: unknown value ""`},
		{"an unknown status", rollout(func(r *ocm.Rollout) { r.Status = []ocm.ClusterStatus{{Cluster: "a", Status: "Done"}} }), `status[0].status: unknown value "Done"`},
		{"less than no clusters", rollout(func(r *ocm.Rollout) { r.Strategy.MaxConcurrency = &ocm.Amount{Value: -1} }), "strategy.maxConcurrency: must be a number of clusters"},
		{"a percentage above 100", rollout(func(r *ocm.Rollout) { r.Strategy.MaxFailures = ocm.Amount{Value: 101, Percent: true} }), "strategy.maxFailures: must be a number of clusters, or a percentage from 0 to 100, not 101"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := validate(ocm.NewDocument(test.r)); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for _, test := range []struct {
		name     string
		document resource.Document
		want     string
	}{
		{"of another type", resource.Document{Meta: meta("Policy"), Value: 7}, ""},
		{"nil", resource.Document{Meta: meta("Policy"), Value: (*ocm.Policy)(nil)}, "the resource is nil"},
		{"of another resource", resource.Document{Meta: meta("Policy"), Value: &ocm.Policy{Meta: resource.Meta{ID: resource.ID{Kind: "Policy", Name: "q"}}}}, `is the document of another resource, Policy "q"`},
	} {
		t.Run("a document: "+test.name, func(t *testing.T) {
			if got := validate(&test.document); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func validate(document *resource.Document) string {
	var sink diag.Sink
	ocm.Validate(diag.Root(diag.GoValue("resource"), &sink), document)
	if err := sink.Err(); err != nil {
		return err.Error()
	}
	return ""
}
