package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// isPlaced reports whether arguments begin with the kind of OCM policies.
func isPlaced(args []string) bool {
	return len(args) > 0 && find.IsKindName(args[0], ocm.PolicyKind)
}

// whyPlaced answers about an OCM policy on a cluster.
func (g *globals) whyPlaced(c *cobra.Command, policy, cluster string) error {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return err
	}
	answer, err := placement.NewWhy(w.view, g.named(policy), cluster)
	return printed(g, c, answer, err, whyPlacedPage)
}

func whyPlacedPage(p *page, a *placement.Why) {
	answer := []string{"answer", a.Answer}
	if len(a.Because) > 0 {
		answer = append(answer, "because of "+listed(a.Because))
	}
	p.row(answer...)
	p.row("remediationAction", a.RemediationAction)
	p.field("reason", a.Reason)
	if len(a.Bindings) == 0 {
		return
	}
	p.heading(0, "bindings")
	for _, b := range a.Bindings {
		does := []string{"does not reach the cluster"}
		if b.Reaches {
			does[0] = "reaches the cluster"
		}
		if b.Enforces {
			does = append(does, "enforces")
		}
		if b.SubFilter {
			does = append(does, "subFilter")
		}
		p.row(b.Name, b.Placement, strings.Join(does, ", "))
	}
}

// inspectPlaced shows the clusters of an OCM policy.
func (g *globals) inspectPlaced(c *cobra.Command, policy string) error {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return err
	}
	answer, err := placement.New(w.view, "").Named(g.named(policy))
	return printed(g, c, answer, err, placementPage)
}
