package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
)

// filterForms are the values of --form.
var filterForms = []string{"matcher", "rules"}

// printFilter prints the Envoy filter of an inbound in one of filterForms: as JSON even if
// the format is a table.
func (g *globals) printFilter(c *cobra.Command, w *world, t *targets, q *accessQuery) error {
	if t.several() {
		return usagef("--filter prints the filter of one inbound; give the name of a dataplane")
	}
	d := t.list[0]
	d, inbounds, err := q.find(w.view, d, nil)
	if err != nil {
		return err
	}
	if len(inbounds) == 0 {
		return usagef("no inbound declares port %d, so there is no filter", q.port)
	}
	i := &d.Inbounds[inbounds[0]]
	p, certificates := inspect.FilterPermissions(w.view, d, inbounds[0])
	if p.NotApplied {
		return usagef("%s, so there is no filter; %s", permission.OpenReason, permission.OpenHint)
	}
	envoyForm := rbac.MatcherForm
	if q.form.word == "rules" {
		envoyForm = rbac.RulesForm
	}
	filter, err := rbac.New(p, envoyForm, "inbound_"+i.SectionName()+".")
	if err != nil {
		return fmt.Errorf("inbound %s: %w", i.SectionName(), err)
	}
	g.reportLeftOut(c)
	if certificates && envoyForm == rbac.MatcherForm && access.ListOf(p).Parts().SpiffeID {
		printError(c.ErrOrStderr(), "warning: ", errors.New("this filter alone matches each SPIFFE ID of a client that has several; put the filters "+
			rbac.CommaFilterName+" and "+rbac.SeveralFilterName+" of `snapshot` before it"))
	}
	return g.encode(c.OutOrStdout(), filter)
}
