package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/migrate"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// versions are the versions of Kuma for which documents can be checked and rewritten.
var versions = []string{semantics.Kuma3.String()}

func newMigrate(g *globals) *cobra.Command {
	to := choice{words: versions}
	c := withHelp("migrate", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to.word == "" {
				return usagef("--to is missing; the only version is %s", versions[0])
			}
			w, err := g.kumaWorld(c)
			if err != nil {
				return err
			}
			loader := resource.Loader{Kinds: g.kinds, Documents: documentTypes()}
			result, errLimit := migrate.Kuma3(c.Context(), loader, w.view, w.set)
			if result == nil {
				return errLimit
			}
			if g.output.word == "yaml" {
				err = g.printRewritten(c, result)
			} else {
				err = g.print(c, result, func(p *page) { migratePage(p, result) })
			}
			return ended(err, errLimit, len(result.Differences) > 0)
		},
	})
	c.Flags().Var(&to, "to", "the `VERSION` of Kuma: kuma3 (required)")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp)) // fails only for an unknown flag
	return c
}

// kumaWorld loads the input with its documents as they are written, as Kuma 2 reads them.
func (g *globals) kumaWorld(c *cobra.Command) (*world, error) {
	g.keepSources = true
	set, err := g.read(c, g.files)
	if err != nil {
		return nil, err
	}
	return g.view(c.Context(), set, semantics.Kuma)
}

// printRewritten prints the rewritten documents as YAML, and how they differ to standard
// error.
func (g *globals) printRewritten(c *cobra.Command, result *migrate.Result) error {
	if err := printYAML(c.OutOrStdout(), lists.MapPointers(result.Documents, func(d *migrate.Document) json.RawMessage { return d.Source })); err != nil {
		return err
	}
	proof := proofText(result)
	if len(result.Differences) > 0 {
		proof = "warning: " + proof
	}
	_, err := fmt.Fprintln(c.ErrOrStderr(), proof)
	return err
}

// proofText returns in one line what the comparison found.
func proofText(result *migrate.Result) string {
	if len(result.Differences) == 0 {
		return "nothing differs: Kuma 3 makes the same confs and the same access decisions"
	}
	opens, closes, dataplanes := 0, 0, 0
	for _, d := range result.Differences {
		for i := range d.Groups {
			dataplanes += len(d.Groups[i].Dataplanes)
		}
		for i := range d.Access {
			if d.Access[i].Opens {
				opens++
			} else {
				closes++
			}
		}
	}
	return fmt.Sprintf("Kuma 3 differs: the confs of %s, %s that open, %s that close",
		diag.Count(dataplanes, "dataplane"), diag.Count(opens, "access decision"), diag.Count(closes, "access decision"))
}

func migratePage(p *page, result *migrate.Result) {
	p.heading(0, "rewritten")
	if len(result.Documents) == 0 {
		p.line("no document")
	}
	for i := range result.Documents {
		d := &result.Documents[i]
		p.row(d.Kind, resource.ID{Namespace: d.Namespace, Name: d.Name}.Qualified(), listed(d.Edits))
	}
	if len(result.Findings) > 0 {
		p.heading(0, "findings")
		for _, f := range result.Findings {
			p.line("%s", f.Line())
		}
	}
	p.heading(0, "%s", proofText(result))
	for i := range result.Differences {
		differencePage(p, &result.Differences[i])
	}
}

func differencePage(p *page, d *migrate.Difference) {
	p.heading(0, "mesh %s", d.Mesh)
	changedGroups(p, d.Groups)
	for i := range d.Access {
		a := &d.Access[i]
		verb := "closes"
		if a.Opens {
			verb = "opens"
		}
		p.row(verb, a.Name+" "+a.Inbound, requestOptions(&a.Witness))
	}
}
