package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/rbac"
)

var filterForms = map[string]rbac.Form{"matcher": rbac.MatcherForm, "rules": rbac.RulesForm}

// filterForm is the value of --form.
type filterForm string

func (f *filterForm) String() string { return string(*f) }

func (f *filterForm) Set(s string) error {
	if _, ok := filterForms[s]; !ok {
		return fmt.Errorf("must be %s", strings.Join(slices.Sorted(maps.Keys(filterForms)), " or "))
	}
	*f = filterForm(s)
	return nil
}

func (*filterForm) Type() string { return "form" }

// printFilter prints the Envoy filter of an inbound: as JSON too if the format
// is a table.
func (g *globals) printFilter(c *cobra.Command, p *permission.Permissions, i *resource.Inbound, form filterForm) error {
	filter, err := rbac.New(p, filterForms[string(form)], "inbound_"+i.SectionName()+".")
	if err != nil {
		return fmt.Errorf("inbound %s: %w", i.SectionName(), err)
	}
	return g.encode(c.OutOrStdout(), filter)
}
