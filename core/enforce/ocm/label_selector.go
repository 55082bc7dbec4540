package ocm

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

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

// Selector returns the selector in the form that package labels evaluates.
func (s *LabelSelector) Selector() labels.Selector {
	selector := labels.NewSelector()
	for _, label := range s.Labels {
		selector = selector.Add(requirement(label.Key, selection.Equals, []string{label.Value}))
	}
	for _, e := range s.Expressions {
		selector = selector.Add(requirement(e.Key, operators[e.Operator], e.Values))
	}
	return selector
}

var operators = map[Operator]selection.Operator{
	In: selection.In, NotIn: selection.NotIn, Exists: selection.Exists, DoesNotExist: selection.DoesNotExist,
}

// requirement returns a requirement. The values must be valid.
func requirement(key string, operator selection.Operator, values []string) labels.Requirement {
	r, err := labels.NewRequirement(key, operator, values)
	if err != nil {
		panic("ocm: a selector that was not validated: " + err.Error())
	}
	return *r
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
		invalid(place, content.IsLabelKey(key))
		invalid(place, content.IsLabelValue(value))
	}
}

// Validate checks the key, and that the operator has the values that it requires.
func (d *requirementDoc) Validate(at *diag.At) {
	invalid(at.Field("key"), content.IsLabelKey(d.Key))
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
		invalid(at.Field("values").Index(i), content.IsLabelValue(value))
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
