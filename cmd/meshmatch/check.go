package main

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
)

func newCheck(g *globals) *cobra.Command {
	var expand bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Validate resources and report what has no effect",
		Long: `Validate every resource, and report all errors of all files at once, each as
file:line:column: path: what; hint. Warnings tell what is valid but has no
effect, such as a policy that selects nothing. All meshes are looked at.`,
		Example: `  meshmatch check -f policies/
  meshmatch check -f policies/ -f dataplanes.yaml -o json
  meshmatch check -f policies/ --expand -o yaml`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(g.files) == 0 {
				return usagef("say what to check: -f FILE, -f DIRECTORY or -f -")
			}
			view, err := loadView(c, g.files)
			if err != nil {
				return err
			}
			if expand {
				return g.printPolicies(c, view)
			}
			answer := inspect.NewCheck(view)
			return g.print(c, answer, func(p *page) { checkPage(p, answer) })
		},
	}
	c.Flags().BoolVar(&expand, "expand", false, "print the policies with their syntactic sugar written out")
	return c
}

func checkPage(p *page, a *inspect.Check) {
	if len(a.Resources) == 0 {
		p.heading(0, "no resources")
		return
	}
	p.heading(0, "resources")
	for _, kind := range slices.Sorted(maps.Keys(a.Resources)) {
		p.row(kind, strconv.Itoa(a.Resources[kind]))
	}
	if len(a.Warnings) == 0 {
		p.heading(0, "no warnings")
		return
	}
	p.heading(0, "warnings")
	for _, w := range a.Warnings {
		p.line("%s", w)
	}
}

// printPolicies prints a stream of documents that -f reads again: of JSON
// objects, or of YAML documents.
func (g *globals) printPolicies(c *cobra.Command, view *core.View) error {
	encode, separator := toYAML, "---\n"
	if g.output == "json" {
		encode, separator = toJSON, ""
	}
	var b bytes.Buffer
	for _, mesh := range view.Meshes() {
		for _, policy := range view.Policies(mesh) {
			data, err := encode(policy)
			if err != nil {
				return err
			}
			if b.Len() > 0 {
				b.WriteString(separator)
			}
			b.Write(data)
		}
	}
	_, err := c.OutOrStdout().Write(b.Bytes())
	return err
}
