package ocm_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Resources that were made in Go are refused like documents, with the path of
// the field.
func TestValidate(t *testing.T) {
	selector := func(e ocm.Requirement) *ocm.PlacementRule {
		return &ocm.PlacementRule{ClusterSelector: &ocm.LabelSelector{Expressions: []ocm.Requirement{e}}}
	}
	for _, test := range []struct {
		name string
		r    ocm.Resource
		want string
	}{
		{"valid", selector(ocm.Requirement{Key: "k", Operator: ocm.NotIn, Values: []string{"a"}}), ""},
		{"an unknown operator", selector(ocm.Requirement{Key: "k", Operator: "Is"}), `spec.clusterSelector.matchExpressions[0].operator: unknown value "Is"`},
		{"In without values", selector(ocm.Requirement{Key: "k", Operator: ocm.In}), `spec.clusterSelector.matchExpressions[0].values: operator In needs at least one value`},
		{"a bad label", &ocm.PlacementRule{DataplaneSelector: &ocm.LabelSelector{Labels: resource.Tags{{Key: "k", Value: "a b"}}}}, `spec.dataplaneSelector.matchLabels.k: a valid label`},
		{"a placement of another kind", &ocm.PlacementBinding{Placement: ocm.Ref{Kind: "Policy"}}, `placementRef.kind: must be PlacementRule or Placement, not "Policy"`},
		{
			"a subject of another kind", &ocm.PlacementBinding{Placement: ocm.Ref{Kind: ocm.PlacementKind}, Subjects: []ocm.Subject{{Ref: ocm.Ref{Kind: "MeshTimeout"}}}},
			`subjects[0].kind: must be Policy or PolicySet, not "MeshTimeout"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var sink diag.Sink
			ocm.Validate(diag.Root(diag.GoValue("rule"), &sink), test.r)
			err := sink.Err()
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
