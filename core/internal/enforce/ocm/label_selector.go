package ocm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// LabelSelector selects objects by their labels, as in Kubernetes: every label and
// every expression must hold. An empty one selects every object.
type LabelSelector struct {
	Labels      resource.Tags
	Expressions []Requirement
}

// Requirement is an expression of a [LabelSelector].
type Requirement struct {
	Key      string
	Operator Operator
	Values   []string // of In and NotIn
}

// Operator is the operator of a [Requirement].
type Operator string

// The operators. An absent label matches NotIn with any list.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
)

// Enum returns the operators.
func (Operator) Enum() []string {
	return []string{string(In), string(NotIn), string(Exists), string(DoesNotExist)}
}

// Empty reports whether the selector selects every object.
func (s *LabelSelector) Empty() bool { return len(s.Labels) == 0 && len(s.Expressions) == 0 }

// Requirements returns the labels and expressions as one list, sorted by key and operator, with
// sorted values. Two selectors with equal lists select the same objects.
func (s *LabelSelector) Requirements() []Requirement {
	all := make([]Requirement, 0, len(s.Labels)+len(s.Expressions))
	for _, label := range s.Labels {
		all = append(all, Requirement{label.Key, In, []string{label.Value}})
	}
	for _, e := range s.Expressions {
		e.Values = slices.Compact(slices.Sorted(slices.Values(e.Values)))
		all = append(all, e)
	}
	slices.SortFunc(all, Requirement.compare)
	return all
}

func (r Requirement) compare(o Requirement) int {
	return cmp.Or(strings.Compare(r.Key, o.Key), strings.Compare(string(r.Operator), string(o.Operator)), slices.Compare(r.Values, o.Values))
}

// Equal reports whether both selectors have the same requirements, or both are nil.
func (s *LabelSelector) Equal(o *LabelSelector) bool {
	if s == nil || o == nil {
		return s == o
	}
	return slices.EqualFunc(s.Requirements(), o.Requirements(), func(a, b Requirement) bool { return a.compare(b) == 0 })
}

// Matches reports whether the selector selects an object with these labels.
func (s *LabelSelector) Matches(labels resource.Tags) bool {
	return labels.Contains(s.Labels) && !slices.ContainsFunc(s.Expressions, func(r Requirement) bool { return !r.matches(labels) })
}

func (r *Requirement) matches(labels resource.Tags) bool {
	value, present := labels.Get(r.Key)
	switch r.Operator {
	case In:
		return present && slices.Contains(r.Values, value)
	case NotIn:
		return !present || !slices.Contains(r.Values, value)
	case Exists:
		return present
	}
	return !present
}

type labelSelectorDoc struct {
	MatchLabels      map[string]string `json:"matchLabels,omitzero"`
	MatchExpressions []requirementDoc  `json:"matchExpressions,omitzero"`
}

//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operator": {"enum": ["In", "NotIn"]}}}}, {"required": ["values"]}]}]}
type requirementDoc struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitzero"`
}

// Validate checks keys and values by the Kubernetes rules for labels.
func (d *labelSelectorDoc) Validate(at *diag.At) {
	for key, value := range d.MatchLabels {
		place := at.Field("matchLabels").Field(key)
		invalid(place, labelKeyProblems(key))
		invalid(place, labelValueProblems(value))
	}
}

// Validate checks the key, and that the operator has the values that it requires.
func (d *requirementDoc) Validate(at *diag.At) {
	invalid(at.Field("key"), labelKeyProblems(d.Key))
	switch d.Operator {
	case In, NotIn:
		if len(d.Values) == 0 {
			at.Field("values").Errorf(diag.MissingField, "", "operator %s needs at least one value", d.Operator)
		}
	case Exists, DoesNotExist:
		if len(d.Values) > 0 {
			at.Field("values").Errorf(diag.FieldNotAllowed, "remove it", "operator %s has no values", d.Operator)
		}
	}
	for i, value := range d.Values {
		invalid(at.Field("values").Index(i), labelValueProblems(value))
	}
}

// invalid reports violations of the rules of Kubernetes.
func invalid(at *diag.At, problems []string) {
	if len(problems) > 0 {
		at.Errorf(diag.BadTag, "", "%s", strings.Join(problems, "; "))
	}
}

// selector returns the selector of a document, or nil if d is nil.
func (d *labelSelectorDoc) selector() *LabelSelector {
	if d == nil {
		return nil
	}
	s := &LabelSelector{Labels: resource.NewTags(d.MatchLabels)}
	for _, e := range d.MatchExpressions {
		s.Expressions = append(s.Expressions, Requirement(e))
	}
	return s
}
