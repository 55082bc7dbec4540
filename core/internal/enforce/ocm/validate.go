package ocm

import (
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Validate reports the errors that a loader would report in a document of this package.
// It is for a resource that was made in Go, or changed after it was read from a file.
// at is the place of the document. A document of another type has no errors.
func Validate(at *diag.At, document *resource.Document) {
	if v := reflect.ValueOf(document.Value); v.Kind() == reflect.Pointer && v.IsNil() {
		at.Errorf(diag.BadResource, "", "the resource is nil")
		return
	}
	r := ResourceOf(document)
	if r == nil {
		return
	}
	if made, isResource := document.Value.(Resource); isResource && made.Identity().ID != document.ID {
		at.Errorf(diag.BadResource, "", "is the document of another resource, %s", made.Identity().ID)
	}
	if kind := r.Identity().Kind; kind != r.kind() {
		at.Field("kind").Errorf(diag.WrongType, "", "must be %s, not %q", r.kind(), kind)
	}
	switch r := r.(type) {
	case *Policy:
		if r.Action > InformOnly {
			at.Field("spec").Field("remediationAction").Errorf(diag.UnknownValue, "", "unknown action %d", r.Action)
		}
	case *PlacementRule:
		validateSelector(at.Field("spec").Field("clusterSelector"), r.ClusterSelector)
		validateSelector(at.Field("spec").Field("dataplaneSelector"), r.DataplaneSelector)
		for i := range r.Dataplanes {
			objectName(r.Dataplanes[i].Name).Validate(at.Field("spec").Field("dataplanes").Index(i).Field("name"))
		}
	case *PlacementBinding:
		validateBinding(at, r)
	case *Rollout:
		validateRollout(at, r)
	}
}

func validateBinding(at *diag.At, b *PlacementBinding) {
	if kind := b.Placement.Kind; kind != PlacementRuleKind && kind != PlacementKind {
		at.Field("placementRef").Field("kind").Errorf(diag.WrongType, "", "must be %s or %s, not %q", PlacementRuleKind, PlacementKind, kind)
	}
	for i, s := range b.Subjects {
		if !s.Mesh && s.Kind != PolicyKind && s.Kind != PolicySetKind {
			at.Field("subjects").Index(i).Field("kind").Errorf(diag.WrongType, "", "must be %s or %s, not %q", PolicyKind, PolicySetKind, s.Kind)
		}
	}
}

func validateSelector(at *diag.At, s *LabelSelector) {
	if s == nil {
		return
	}
	for _, label := range s.Labels {
		place := at.Field("matchLabels").Field(label.Key)
		invalid(place, labelKeyProblems(label.Key))
		invalid(place, labelValueProblems(label.Value))
	}
	for i, e := range s.Expressions {
		place := at.Field("matchExpressions").Index(i)
		validateWord(place.Field("operator"), e.Operator)
		(&requirementDoc{e.Key, e.Operator, e.Values}).Validate(place)
	}
}

func validateRollout(at *diag.At, r *Rollout) {
	strategy := at.Field("strategy")
	validateWord(strategy.Field("type"), r.Strategy.Type)
	if limit := r.Strategy.MaxConcurrency; limit != nil {
		validateAmount(strategy.Field("maxConcurrency"), *limit)
	}
	validateAmount(strategy.Field("maxFailures"), r.Strategy.MaxFailures)
	for i, s := range r.Status {
		validateWord(at.Field("status").Index(i).Field("status"), s.Status)
	}
}

func validateAmount(at *diag.At, a Amount) {
	if a.Value < 0 || a.Percent && a.Value > 100 {
		at.Errorf(diag.OutOfRange, "", "must be a number of clusters, or a percentage from 0 to 100, not %d", a.Value)
	}
}

// validateWord checks a value of a type that has a list of values.
func validateWord[W interface {
	~string
	Enum() []string
}](at *diag.At, word W) {
	if words := word.Enum(); !slices.Contains(words, string(word)) {
		at.Errorf(diag.UnknownValue, diag.DidYouMean(string(word), words), "unknown value %q", string(word))
	}
}
