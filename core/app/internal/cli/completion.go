package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// completion returns the words that may follow on a command line.
type completion = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// completeNames completes the next argument with names of the input. There are
// none if the input cannot be read, or is standard input, which the command
// itself has to read.
func (g *globals) completeNames(names func(w *world, args []string) []string) completion {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if slices.Contains(g.files, resource.Stdin) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		slices.Sort(g.files)
		g.files = slices.Compact(g.files) // cobra parses the flags twice before it calls this
		w, err := g.load(c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(w, args), cobra.ShellCompDirectiveNoFileComp
	}
}

func dataplaneNames(w *world, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	return lists.Map(w.view.Dataplanes(w.mesh), func(d *resource.Dataplane) string { return d.Name })
}

// targetNames completes a dataplane or svc/SERVICE.
func targetNames(w *world, args []string) []string {
	names := dataplaneNames(w, args)
	if len(args) == 0 {
		for _, service := range find.ServiceNames(w.view, w.mesh) {
			names = append(names, find.ServicePrefix+service)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// partNames completes names of parts of the dataplane that is the last argument.
func partNames(names func(*core.View, *resource.Dataplane) []string) func(w *world, args []string) []string {
	return func(w *world, args []string) []string {
		if len(args) == 0 {
			return nil
		}
		d, err := find.Dataplane(w.view, w.mesh, find.Name{Name: args[len(args)-1]})
		if err != nil {
			return nil
		}
		return names(w.view, d)
	}
}

func (g *globals) policyNames(w *world, args []string) []string {
	if len(args) != 1 {
		return nil
	}
	kind, _ := find.Kind(g.kinds, args[0])
	ofKind := lists.Filter(w.view.Policies(w.mesh), func(p *resource.Policy) bool { return p.Type == kind })
	return lists.Map(ofKind, func(p *resource.Policy) string { return p.Name })
}

// completeWhy completes a kind, then a policy of that kind or a dataplane, then a
// dataplane.
func (g *globals) completeWhy(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return g.completeKinds(c, args, word)
	}
	return g.completeNames(func(w *world, args []string) []string {
		names := g.policyNames(w, args)
		if len(args) <= 2 {
			names = append(names, targetNames(w, nil)...)
		}
		return names
	})(c, args, word)
}

// qualifiedPolicies completes KIND/NAME of a policy that informs.
func qualifiedPolicies(w *world, _ []string) []string {
	return lists.Map(lists.Filter(w.view.Policies(w.mesh), (*resource.Policy).Shadow), func(p *resource.Policy) string { return p.Kind + "/" + p.Name })
}

// labelKeys completes a label that a dataplane has.
func labelKeys(w *world, _ []string) []string {
	var keys []string
	for _, d := range w.view.Dataplanes(w.mesh) {
		for _, label := range d.Labels {
			keys = append(keys, label.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// completeFlag completes the value of a flag with names of the input.
func (g *globals) completeFlag(c *cobra.Command, flag string, names func(w *world, args []string) []string) {
	_ = c.RegisterFlagCompletionFunc(flag, g.completeNames(names)) // fails only for an unknown flag
}

// completeResources completes a kind, then a name of the resources of that kind.
func (g *globals) completeResources(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return find.ResourceKinds(g.kinds, documentTypes()), cobra.ShellCompDirectiveNoFileComp
	}
	return g.completeNames(func(w *world, args []string) []string {
		if len(args) != 1 {
			return nil
		}
		kind, _ := find.ResourceKind(g.kinds, documentTypes(), args[0])
		list, _ := inspect.NewResources(w.set, inspect.ResourceQuery{Kind: kind, Name: g.named("")})
		return lists.MapPointers(list, func(r *inspect.Resource) string { return r.Name })
	})(c, args, word)
}

func (g *globals) completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return g.kinds.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completions registers the words that may follow the flags of a command and of its
// subcommands. An argument is not completed as a file, because files are given with -f.
func (g *globals) completions(c *cobra.Command) {
	words := map[string]completion{
		"kind":    g.completeKinds,
		"form":    cobra.FixedCompletions(filterForms, cobra.ShellCompDirectiveNoFileComp),
		"fail-on": cobra.FixedCompletions(append(failOnWords(""), completeCodes()...), cobra.ShellCompDirectiveNoFileComp),
		"for":     cobra.FixedCompletions(versions, cobra.ShellCompDirectiveNoFileComp),
	}
	for flag, complete := range words {
		if c.Flag(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, complete) // fails only if it is registered already
		}
	}
	if form, ok := c.Flag("output").Value.(*choice); ok {
		_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(form.words, cobra.ShellCompDirectiveNoFileComp))
	}
	if c.ValidArgsFunction == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		g.completions(sub)
	}
}
