package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/rbac"
)

// filterForms are the values of --form.
var filterForms = []string{"matcher", "rules"}

// printFilter prints the Envoy filter of an inbound in one of filterForms: as JSON too
// if the format is a table.
func (g *globals) printFilter(c *cobra.Command, p *permission.Permissions, i *resource.Inbound, form string) error {
	if p.NotApplied {
		return usagef("%s, so there is no filter; %s", permission.OpenReason, permission.OpenHint)
	}
	envoyForm := rbac.MatcherForm
	if form == "rules" {
		envoyForm = rbac.RulesForm
	}
	filter, err := rbac.New(p, envoyForm, "inbound_"+i.SectionName()+".")
	if err != nil {
		return fmt.Errorf("inbound %s: %w", i.SectionName(), err)
	}
	g.reportLeftOut(c)
	return g.encode(c.OutOrStdout(), filter)
}
