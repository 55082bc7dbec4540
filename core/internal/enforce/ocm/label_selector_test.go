package ocm_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestLabelSelector(t *testing.T) {
	expression := func(operator ocm.Operator, values ...string) ocm.LabelSelector {
		return ocm.LabelSelector{Expressions: []ocm.Requirement{{Key: "env", Operator: operator, Values: values}}}
	}
	for _, test := range []struct {
		name     string
		selector ocm.LabelSelector
		selects  []map[string]string
		not      []map[string]string
	}{
		{"empty", ocm.LabelSelector{}, []map[string]string{{}, {"env": "prod"}}, nil},
		{"labels", ocm.LabelSelector{Labels: resource.Tags{{Key: "a", Value: "1"}, {Key: "env", Value: "prod"}}}, []map[string]string{{"a": "1", "env": "prod"}}, []map[string]string{{"env": "prod"}, {}}},
		{"In", expression(ocm.In, "prod", "dev"), []map[string]string{{"env": "prod"}, {"env": "dev"}}, []map[string]string{{"env": "test"}, {}}},
		{"NotIn", expression(ocm.NotIn, "prod", "dev"), []map[string]string{{"env": "test"}, {}}, []map[string]string{{"env": "prod"}}},
		{"Exists", expression(ocm.Exists), []map[string]string{{"env": ""}}, []map[string]string{{}}},
		{"DoesNotExist", expression(ocm.DoesNotExist), []map[string]string{{}}, []map[string]string{{"env": ""}}},
		{
			"all of them must hold",
			ocm.LabelSelector{Labels: resource.Tags{{Key: "a", Value: "1"}}, Expressions: []ocm.Requirement{{Key: "env", Operator: ocm.Exists}}},
			[]map[string]string{{"a": "1", "env": "x"}}, []map[string]string{{"a": "1"}, {"env": "x"}},
		},
	} {
		if got := test.selector.Empty(); got != (test.name == "empty") {
			t.Errorf("%s: empty is %v", test.name, got)
		}
		for want, sets := range map[bool][]map[string]string{true: test.selects, false: test.not} {
			for _, set := range sets {
				if test.selector.Matches(resource.NewTags(set)) != want {
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
		if got := test.amount.CountOf(test.n); got != test.want {
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
