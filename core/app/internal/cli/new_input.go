package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/app/internal/webhook"
	"github.com/meshmatch/meshmatch/core/resource"
)

// newInput is the flags of a second input: other files, or an edit of the files of -f.
type newInput struct {
	with    []string
	apply   []string // files of resources that are added or replaced
	deleted []string // KIND/[NAMESPACE/]NAME
}

func (n *newInput) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&n.with, "with", nil, "the new `FILE`s, as for -f; may be repeated")
	flags.StringArrayVar(&n.apply, "apply", nil, "the `FILE`s whose resources are added to those of -f, or replace them; may be repeated")
	flags.StringArrayVar(&n.deleted, "delete", nil, "the resource to delete, as `KIND/NAME` or KIND/NAMESPACE/NAME; may be repeated")
}

// edits reports whether the new input is an edit of the old one.
func (n *newInput) edits() bool { return len(n.apply)+len(n.deleted) > 0 }

func (n *newInput) given() bool { return len(n.with) > 0 || n.edits() }

// files returns the files that are read.
func (n *newInput) files() []string { return append(slices.Clone(n.with), n.apply...) }

// check reports flags that cannot be combined.
func (n *newInput) check() error {
	if len(n.with) > 0 && n.edits() {
		return usagef("--apply and --delete edit the input of -f; give them or --with, not both")
	}
	return nil
}

// load reads both inputs.
func (n *newInput) load(g *globals, c *cobra.Command) (before, after *world, err error) {
	if n.edits() {
		return g.loadApplied(c, n.apply, n.deleted)
	}
	return g.loadBoth(c, n.with)
}

// readBoth reads what -f and other files name, if there are any, so that the errors of both are
// reported together.
func (g *globals) readBoth(c *cobra.Command, files []string) (old, next *resource.Set, err error) {
	if repeats(append(slices.Clone(g.files), files...), resource.Stdin) {
		return nil, nil, errStdinTwice
	}
	old, errOld := g.read(c, g.files)
	next = new(resource.Set)
	if len(files) > 0 {
		next, err = g.read(c, files)
	}
	return old, next, errors.Join(errOld, err)
}

// loadBoth reads what -f and --with name.
func (g *globals) loadBoth(c *cobra.Command, with []string) (before, after *world, err error) {
	old, next, err := g.readBoth(c, with)
	if err != nil {
		return nil, nil, err
	}
	s, err := g.semanticsOf(old, next)
	if err != nil {
		return nil, nil, err
	}
	plane := webhook.NewControlPlane(g.zone, old, next)
	if err := errors.Join(plane.Store(old, s), plane.Store(next, s)); err != nil {
		return nil, nil, err
	}
	before, errBefore := g.view(c.Context(), old, s)
	after, errAfter := g.view(c.Context(), next, s)
	return before, after, errors.Join(errBefore, errAfter)
}
