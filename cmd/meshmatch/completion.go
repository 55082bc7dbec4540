package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// completion tells a shell the words that can stand next.
type completion = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// completeNames offers the names that the input has for the next argument.
// Nothing is offered where the input can not be read, or is standard input,
// which the command itself has to read.
func (g *globals) completeNames(names func(w *world, args []string) []string) completion {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if slices.Contains(g.files, resource.Stdin) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		slices.Sort(g.files)
		g.files = slices.Compact(g.files) // cobra parses flags twice on the way here
		w, err := g.load(c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(w, args), cobra.ShellCompDirectiveNoFileComp
	}
}

func dataplaneNames(w *world, args []string) []string {
	var names []string
	if len(args) == 0 {
		for _, d := range w.view.Dataplanes(w.mesh) {
			names = append(names, d.Name)
		}
	}
	return names
}

func policyNames(w *world, args []string) []string {
	var names []string
	if len(args) == 1 {
		for _, p := range w.view.Policies(w.mesh) {
			if p.Kind == args[0] {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

func completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return kinds.All().Names(), cobra.ShellCompDirectiveNoFileComp
}

// completions registers what can stand behind the flags of a command and of
// those below it. Flags without words of their own take none but files.
func completions(c *cobra.Command) {
	words := map[string]completion{
		"kind":   completeKinds,
		"form":   cobra.FixedCompletions(slices.Sorted(maps.Keys(filterForms)), cobra.ShellCompDirectiveNoFileComp),
		"output": cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp),
		"shape":  cobra.FixedCompletions(shapeNames(), cobra.ShellCompDirectiveNoFileComp),
	}
	for flag, complete := range words {
		if c.Flag(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, complete) // fails only where it is registered already
		}
	}
	for _, sub := range c.Commands() {
		completions(sub)
	}
}
