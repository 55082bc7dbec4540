package ocm_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestLabelSelector(t *testing.T) {
	expression := func(operator ocm.Operator, values ...string) ocm.LabelSelector {
		return ocm.LabelSelector{Expressions: []ocm.Requirement{{Key: "env", Operator: operator, Values: values}}}
	}
	for _, test := range []struct {
		name     string
		selector ocm.LabelSelector
		selects  []labels.Set
		not      []labels.Set
	}{
		{"empty", ocm.LabelSelector{}, []labels.Set{{}, {"env": "prod"}}, nil},
		{"labels", ocm.LabelSelector{Labels: resource.Tags{{Key: "a", Value: "1"}, {Key: "env", Value: "prod"}}}, []labels.Set{{"a": "1", "env": "prod"}}, []labels.Set{{"env": "prod"}, {}}},
		{"In", expression(ocm.In, "prod", "dev"), []labels.Set{{"env": "prod"}, {"env": "dev"}}, []labels.Set{{"env": "test"}, {}}},
		{"NotIn", expression(ocm.NotIn, "prod", "dev"), []labels.Set{{"env": "test"}, {}}, []labels.Set{{"env": "prod"}}},
		{"Exists", expression(ocm.Exists), []labels.Set{{"env": ""}}, []labels.Set{{}}},
		{"DoesNotExist", expression(ocm.DoesNotExist), []labels.Set{{}}, []labels.Set{{"env": ""}}},
		{
			"all of them must hold",
			ocm.LabelSelector{Labels: resource.Tags{{Key: "a", Value: "1"}}, Expressions: []ocm.Requirement{{Key: "env", Operator: ocm.Exists}}},
			[]labels.Set{{"a": "1", "env": "x"}}, []labels.Set{{"a": "1"}, {"env": "x"}},
		},
	} {
		if got := test.selector.Empty(); got != (test.name == "empty") {
			t.Errorf("%s: empty is %v", test.name, got)
		}
		selector := test.selector.Selector()
		for want, sets := range map[bool][]labels.Set{true: test.selects, false: test.not} {
			for _, set := range sets {
				if selector.Matches(set) != want {
					t.Errorf("%s: selects %v: %v", test.name, set, !want)
				}
			}
		}
	}
}

func TestAmount(t *testing.T) {
	for _, test := range []struct {
		amount  ocm.Amount
		n, want int
	}{
		{ocm.Amount{Value: 3}, 2, 3},
		{ocm.Amount{Value: 25, Percent: true}, 8, 2},
		{ocm.Amount{Value: 25, Percent: true}, 9, 3}, // rounded up
		{ocm.Amount{Value: 1, Percent: true}, 1, 1},
		{ocm.Amount{Value: 0, Percent: true}, 9, 0},
		{ocm.Amount{Value: 100, Percent: true}, 9, 9},
	} {
		if got := test.amount.Of(test.n); got != test.want {
			t.Errorf("%+v of %d: got %d, want %d", test.amount, test.n, got, test.want)
		}
	}
}

func TestActions(t *testing.T) {
	for action, want := range map[ocm.Action]string{ocm.Inform: "inform", ocm.Enforce: "enforce", ocm.InformOnly: "informonly"} {
		if action.String() != want {
			t.Errorf("got %s, want %s", action, want)
		}
	}
}
