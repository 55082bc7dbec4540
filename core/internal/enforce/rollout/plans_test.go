package rollout_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestNewPlans resolves placements by name and namespace.
func TestNewPlans(t *testing.T) {
	decision := func(namespace string, clusters ...string) *ocm.PlacementDecision {
		d := &ocm.PlacementDecision{Placement: "fleet", Clusters: clusters}
		d.ID = resource.ID{Kind: ocm.PlacementDecisionKind, Namespace: namespace, Name: "d"}
		return d
	}
	for _, test := range []struct {
		name      string
		namespace string // of the rollout
		decisions []*ocm.PlacementDecision
		mandatory []ocm.GroupRef
		want      string // the plan
		warning   string
	}{
		{"the namespace of the rollout", "n", []*ocm.PlacementDecision{decision("n", "a"), decision("o", "b")}, nil, "a:apply", ""},
		{"the only placement with the name", "", []*ocm.PlacementDecision{decision("o", "b")}, nil, "b:apply", ""},
		{"the placement without a namespace", "", []*ocm.PlacementDecision{decision("", "a"), decision("o", "b")}, nil, "a:apply", ""},
		{"several placements", "", []*ocm.PlacementDecision{decision("n", "a"), decision("o", "b")}, nil, "", `placement: Placement "fleet" is in several namespaces`},
		{"no decisions", "n", []*ocm.PlacementDecision{decision("o", "b")}, nil, "", `placement: Placement "fleet" has no decisions`},
		{"no such group", "o", []*ocm.PlacementDecision{decision("o", "b")}, []ocm.GroupRef{{Name: "g"}}, "b:apply", `strategy.mandatoryDecisionGroups[0]: the placement has no such decision group`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &ocm.Rollout{Placement: ocm.Ref{Name: "fleet", Path: "placement"}, Strategy: ocm.Strategy{Type: ocm.All, MandatoryGroups: test.mandatory}}
			r.ID = resource.ID{Kind: ocm.RolloutKind, Namespace: test.namespace, Name: "r"}
			plans, warnings := rollout.NewPlans(&ocm.Resources{Rollouts: []*ocm.Rollout{r}, PlacementDecisions: test.decisions}, now)
			if got := summary(plans.Rollouts[0]); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			text := ""
			for _, w := range warnings {
				text += w.Error()
			}
			if !strings.Contains(text, test.warning) || test.warning == "" && text != "" {
				t.Errorf("warnings %q, want %q", text, test.warning)
			}
		})
	}
}
