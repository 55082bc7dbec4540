package ocm

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate reports what a loader would refuse in a resource that was made in Go.
// at is the place of the resource.
func Validate(at *diag.At, r Resource) {
	switch r := r.(type) {
	case *PlacementRule:
		validateSelector(at.Field("spec").Field("clusterSelector"), r.ClusterSelector)
		validateSelector(at.Field("spec").Field("dataplaneSelector"), r.DataplaneSelector)
	case *PlacementBinding:
		if kind := r.Placement.Kind; kind != PlacementRuleKind && kind != PlacementKind {
			at.Field("placementRef").Field("kind").Errorf("", "must be %s or %s, not %q", PlacementRuleKind, PlacementKind, kind)
		}
		for i, s := range r.Subjects {
			if !s.Mesh && s.Kind != PolicyKind && s.Kind != PolicySetKind {
				at.Field("subjects").Index(i).Field("kind").Errorf("", "must be %s or %s, not %q", PolicyKind, PolicySetKind, s.Kind)
			}
		}
	}
}

func validateSelector(at *diag.At, s *LabelSelector) {
	if s == nil {
		return
	}
	for _, label := range s.Labels {
		place := at.Field("matchLabels").Field(label.Key)
		invalid(place, content.IsLabelKey(label.Key))
		invalid(place, content.IsLabelValue(label.Value))
	}
	for i, e := range s.Expressions {
		place := at.Field("matchExpressions").Index(i)
		if !slices.Contains(e.Operator.Enum(), string(e.Operator)) {
			place.Field("operator").Errorf(diag.DidYouMean(string(e.Operator), e.Operator.Enum()), "unknown value %q", e.Operator)
		}
		(&requirementDoc{e.Key, e.Operator, e.Values}).Validate(place)
	}
}
