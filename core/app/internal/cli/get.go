package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
)

func newGet(g *globals) *cobra.Command {
	var q inspect.ResourceQuery
	var selector string
	c := withHelp("get", &cobra.Command{
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: g.completeResources,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if selector != "" {
				if q.Selection, err = find.ParseSelection(selector); err != nil {
					return err
				}
			}
			q.Mesh = g.mesh
			if len(args) > 0 {
				if q.Kind, err = find.ResourceKind(g.kinds, documentTypes(), args[0]); err != nil {
					return err
				}
			}
			if len(args) > 1 {
				q.Name.Name = args[1]
			}
			g.keepSources = true
			set, err := g.read(c, g.files)
			if err != nil {
				return err
			}
			q.Name.Namespace, q.OfCluster = g.namespace, g.scoped
			list, err := inspect.NewResources(set, q)
			if err != nil {
				return err
			}
			switch {
			case g.output.word == "name":
				g.reportLeftOut(c)
				return printNames(c.OutOrStdout(), list)
			case g.isTable():
				return g.print(c, nil, func(p *page) { resourcesPage(p, list, time.Now()) })
			}
			return g.printSources(c, list)
		},
	})
	g.moreOutputs(c, "name")
	c.Flags().StringVarP(&selector, "selector", "l", "", "only resources with these labels, or dataplanes with these labels and tags: `KEY=VALUE[,...]`")
	return c
}

// printSources prints the documents as they are written: as a JSON list, or as a stream of
// YAML documents.
func (g *globals) printSources(c *cobra.Command, list []inspect.Resource) error {
	g.reportLeftOut(c)
	sources := make([]json.RawMessage, len(list)) // not null in JSON
	for i := range list {
		sources[i] = list[i].Source
	}
	if g.output.word == "json" {
		return g.encode(c.OutOrStdout(), sources)
	}
	return printYAML(c.OutOrStdout(), sources)
}

// printNames prints the names of resources, in the form that `diff --delete` takes.
func printNames(w io.Writer, list []inspect.Resource) error {
	for i := range list {
		if _, err := fmt.Fprintf(w, "%s/%s\n", list[i].Kind, diag.OneLine(list[i].Qualified())); err != nil {
			return err
		}
	}
	return nil
}

// resourcesPage prints a table for each kind. It has a column of ages if one of the resources
// has the time at which a control plane stored it.
func resourcesPage(p *page, list []inspect.Resource, now time.Time) {
	if len(list) == 0 {
		p.line("no resources")
	}
	counts, aged := map[string]int{}, map[string]bool{}
	for i := range list {
		counts[list[i].Kind]++
		aged[list[i].Kind] = aged[list[i].Kind] || !list[i].Stored().IsZero()
	}
	kind := ""
	for i := range list {
		r := &list[i]
		if r.Kind != kind {
			kind = r.Kind
			p.heading(0, "%s (%d)", kind, counts[kind])
			head := []string{"MESH", "NAMESPACE", "NAME"}
			if aged[kind] {
				head = append(head, "AGE")
			}
			p.row(append(head, "")...)
		}
		cells := []string{or(r.Mesh), or(r.Namespace), r.Name}
		if aged[kind] {
			cells = append(cells, age(r.Stored(), now))
		}
		cells = append(cells, r.Summary)
		if p.wide {
			cells = append(cells, fmt.Sprintf("%s:%d", r.Pos.File, r.Pos.Line))
		}
		p.row(cells...)
	}
}

// age returns the time since a resource was stored, in its largest unit.
func age(stored, now time.Time) string {
	since := now.Sub(stored)
	const day = 24 * time.Hour
	switch {
	case stored.IsZero() || since < 0:
		return "-"
	case since >= 2*365*day:
		return fmt.Sprintf("%dy", since/(365*day))
	case since >= 2*day:
		return fmt.Sprintf("%dd", since/day)
	case since >= 2*time.Hour:
		return fmt.Sprintf("%dh", since/time.Hour)
	case since >= 2*time.Minute:
		return fmt.Sprintf("%dm", since/time.Minute)
	}
	return fmt.Sprintf("%ds", since/time.Second)
}

// or returns a cell of a table, which is never empty.
func or(text string) string {
	if text == "" {
		return "-"
	}
	return diag.OneLine(text)
}
