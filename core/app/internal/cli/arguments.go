package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// noArgs accepts no arguments, for commands that have flags only.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("%s takes no arguments, but got %q; files are given with -f", c.CommandPath(), args[0])
}

// group returns a command that has subcommands only.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	c := withHelp(name, &cobra.Command{
		Args: subcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	})
	c.AddCommand(commands...)
	return c
}

// subcommand accepts no arguments.
func subcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := lists.Map(lists.Filter(c.Commands(), (*cobra.Command).IsAvailableCommand), (*cobra.Command).Name)
	return usagef("unknown command %q for %q; %s", args[0], c.CommandPath(), diag.DidYouMean(args[0], names))
}

// exactly requires one argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s is missing: %s %s", names[len(args)], c.CommandPath(), strings.Join(names, " "))
		case len(args) > len(names):
			return usagef("unexpected argument %q: %s", args[len(names)], strings.Join(append([]string{c.CommandPath()}, names...), " "))
		}
		return nil
	}
}

// flagError adds to the error of an unknown flag the flag most like it.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if hint := diag.DidYouMean("--"+unknown.GetSpecifiedName(), names); hint != "" {
		return usagef("%w; %s", err, hint)
	}
	return err
}

// registerRequest adds the flags that describe a request.
func registerRequest(flags *pflag.FlagSet, q *inspect.RequestQuery) {
	flags.StringVar(&q.SpiffeID, "spiffe-id", "", "the SPIFFE `ID` of the client's certificate")
	flags.StringVar(&q.SNI, "sni", "", "the server `NAME` (SNI) that the client sends")
	flags.StringVar(&q.Method, "method", "", "the HTTP `METHOD`")
	flags.StringVar(&q.Path, "path", "", "the `PATH`, with or without a query")
	flags.StringArrayVar(&q.Headers, "header", nil, "a header, as `NAME=VALUE`; may be repeated")
	flags.StringArrayVar(&q.Tags, "tag", nil, "a tag of the client, as `KEY=VALUE`, for from policies; may be repeated")
}
