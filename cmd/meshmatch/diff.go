package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newDiff(g *globals) *cobra.Command {
	var with []string
	var scope core.Scope
	c := &cobra.Command{
		Use:   "diff",
		Short: "Show what changes for each dataplane between two sets of files",
		Long: `Show, field by field, how the effective configuration of each dataplane changes
from the files of -f to the files of --with. Dataplanes with the same change
are shown together. Exit status 1 means that something changes.`,
		Example: `  meshmatch diff -f old/ --with new/
  git show HEAD:mesh.yaml | meshmatch diff -f - --with mesh.yaml`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(with) == 0 {
				return usagef("say what to compare with: --with FILE or --with DIRECTORY")
			}
			before, after, err := g.loadBoth(c, with)
			if err != nil {
				return err
			}
			mesh, err := g.chooseMesh(slices.Compact(slices.Sorted(slices.Values(append(before.Meshes(), after.Meshes()...)))))
			if err != nil {
				return err
			}
			if scope.Kind != "" {
				if _, err := kindNamed(after, scope.Kind); err != nil {
					return err
				}
			}
			diff, err := inspect.NewDiff(before, after, mesh, scope)
			if err != nil {
				return err
			}
			if err := g.print(c, diff, func(p *page) { diffPage(p, diff) }); err != nil {
				return err
			}
			if len(diff.Groups) > 0 {
				return errNo
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&with, "with", nil, "the new `FILE`s, as for -f; may be repeated")
	flags.StringVar(&scope.Kind, "kind", "", "only this policy `KIND`")
	flags.BoolVar(&scope.Shadow, "shadow", false, "as if the policies that only inform were enforced")
	return c
}

// loadBoth reads what -f and --with name, so that the errors of both are
// reported together.
func (g *globals) loadBoth(c *cobra.Command, with []string) (before, after *core.View, err error) {
	if len(g.files) == 0 {
		return nil, nil, errNoFiles
	}
	if repeats(append(slices.Clone(g.files), with...), resource.Stdin) {
		return nil, nil, errStdinTwice
	}
	before, errBefore := loadView(c, g.files)
	after, errAfter := loadView(c, with)
	return before, after, errors.Join(errBefore, errAfter)
}

func diffPage(p *page, diff *inspect.Diff) {
	if len(diff.Groups) == 0 {
		p.line("no dataplane changes")
	}
	for _, group := range diff.Groups {
		p.heading(0, "%s", dataplanesTitle(group.Dataplanes))
		kind, place := "", ""
		for i, change := range group.Changes {
			if change.Kind != kind || change.Place != place {
				kind, place = change.Kind, change.Place
				p.heading(1, "%s, %s", kind, place)
			}
			if change.Field == "" && i+1 < len(group.Changes) && group.Changes[i+1].Place == place && group.Changes[i+1].Kind == kind {
				continue // its fields tell that the conf appears or goes
			}
			p.row(changeTitle(&change), changeText(change.Old, change.OldOrigin)+" -> "+changeText(change.New, change.NewOrigin))
		}
	}
}

const dataplanesShown = 5

func dataplanesTitle(kris []string) string {
	if len(kris) <= dataplanesShown {
		return strings.Join(kris, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(kris[:dataplanesShown], ", "), len(kris)-dataplanesShown)
}

func changeTitle(c *inspect.Change) string {
	switch {
	case c.Field != "":
		return fieldTitle(c.Field)
	case c.Old != nil && c.New != nil:
		return "matches" // in another order
	}
	return "conf"
}

func changeText(value json.RawMessage, origin *inspect.Origin) string {
	var decoded any
	switch {
	case value == nil:
		return "(not set)"
	case json.Unmarshal(value, &decoded) != nil:
		return string(value)
	case origin == nil:
		return valueText(decoded)
	}
	return fmt.Sprintf("%s by %s [%d]", valueText(decoded), origin.KRI, origin.Index)
}
