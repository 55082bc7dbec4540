package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
)

func newGet(g *globals) *cobra.Command {
	var q inspect.ResourceQuery
	var selector string
	c := &cobra.Command{
		Use:   "get [KIND [NAME]]",
		Short: "List the resources of the input",
		Long: `List the resources of all meshes, or of the one of --mesh: those of a kind, of a
name, or with the labels of -l. For a dataplane, -l also compares the tags of one
inbound.

The table has for each resource its mesh, its namespace, its name and the main fields
of its kind. -o wide adds file:line. -o json is a list of the documents as they are
written, -o yaml is a stream of them, which -f reads.

Exit status: 0 done; 1 bad input, or there is no resource of the name.`,
		Example: `  meshmatch get -f policies/
  meshmatch get meshtimeouts -f policies/
  meshmatch get dp -l app=web,kuma.io/zone=east -f policies/ -o wide
  meshmatch get mt web-faster -f policies/ -o yaml`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: g.completeResources,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if selector != "" {
				if q.Selection, err = find.ParseSelection(selector); err != nil {
					return err
				}
			}
			q.Mesh, q.Name = g.mesh, g.named("")
			if len(args) > 0 {
				if q.Kind, err = find.ResourceKind(g.kinds, documentTypes(), args[0]); err != nil {
					return err
				}
			}
			if len(args) > 1 {
				q.Name.Name = args[1]
			}
			g.keepSources = !g.isTable()
			set, err := g.read(c, g.files)
			if err != nil {
				return err
			}
			list, err := inspect.NewResources(set, q)
			if err != nil {
				return err
			}
			if g.isTable() {
				return g.print(c, nil, func(p *page) { resourcesPage(p, list) })
			}
			return g.printSources(c, list)
		},
	}
	c.Flags().StringVarP(&selector, "selector", "l", "", "only resources with these labels, or dataplanes with these labels and tags: `KEY=VALUE[,...]`")
	return c
}

// printSources prints the documents as they are written: as a JSON list, or as a stream of
// YAML documents.
func (g *globals) printSources(c *cobra.Command, list []inspect.Resource) error {
	g.reportLeftOut(c)
	sources := make([]json.RawMessage, len(list))
	for i := range list {
		sources[i] = list[i].Source
	}
	if g.output.word == "json" {
		return g.encode(c.OutOrStdout(), sources)
	}
	return printYAML(c.OutOrStdout(), sources)
}

func resourcesPage(p *page, list []inspect.Resource) {
	if len(list) == 0 {
		p.line("no resources")
	}
	counts := map[string]int{}
	for i := range list {
		counts[list[i].Kind]++
	}
	kind := ""
	for i := range list {
		r := &list[i]
		if r.Kind != kind {
			kind = r.Kind
			p.heading(0, "%s (%d)", kind, counts[kind])
			p.row("MESH", "NAMESPACE", "NAME", "")
		}
		cells := []string{or(r.Mesh), or(r.Namespace), r.Name, r.Summary}
		if p.wide {
			cells = append(cells, fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line))
		}
		p.row(cells...)
	}
}

// or returns a cell of a table, which is never empty.
func or(text string) string {
	if text == "" {
		return "-"
	}
	return diag.OneLine(text)
}
