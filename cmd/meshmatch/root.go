package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes (SPEC 10).
const (
	exitDone  = 0
	exitNo    = 1 // bad input, or the answer is "no"
	exitUsage = 2
)

// errNo ends a command whose answer, already printed, is "no".
var errNo = errors.New("the answer is no")

// failure is an error of a command that was used rightly.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	var failed failure
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errNo):
		return exitNo
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, err)
		return exitNo
	}
	fmt.Fprintf(stderr, "meshmatch: %v\n", err)
	fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	return exitUsage
}

const rootLong = `Meshmatch tells which policies hit a proxy of a service mesh, in which order,
what the merged result is, and which item of which policy set each field.

It reads Kuma policies and dataplanes (YAML or JSON, universal or Kubernetes
spelling) from files, directories or standard input.

Exit status: 0 done; 1 bad input, or the answer is "no"; 2 wrong usage.`

const rootExample = `  meshmatch check -f policies/
  meshmatch inspect dataplane web-1 -f policies/ --explain
  meshmatch conf web-1 --kind MeshTimeout --outbound backend -f policies/
  meshmatch diff -f old/ --with new/
  helm template mesh-policies | meshmatch check -f - -f dataplanes/`

func newRoot() *cobra.Command {
	g := &globals{}
	root := &cobra.Command{
		Use:           "meshmatch",
		Short:         "Match, order and merge service-mesh policies, with reasons",
		Long:          rootLong,
		Example:       rootExample,
		Version:       version(),
		Args:          subcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringArrayVarP(&g.files, "file", "f", nil, "a `FILE`, a directory tree or - for standard input; may be repeated")
	flags.StringVar(&g.mesh, "mesh", "", "the `MESH` (default \"default\", or the only one that there is)")
	flags.Var(&g.namespace, "namespace", "the `NAMESPACE`, needed where a name is not unique")
	flags.VarP(&g.output, "output", "o", "the `FORMAT` of the answer: "+strings.Join(outputs, ", "))
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newCheck(g), newInspect(g), newConf(g), newAccess(g), newDiff(g), newBench(g))
	for _, c := range root.Commands() {
		failuresOf(c)
	}
	completions(root)
	return root
}

// version is the module's, as the build that made the program recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}

// failuresOf marks every error that a command returns as a failure, so that
// what is left, the complaints of the parser, is wrong usage.
func failuresOf(c *cobra.Command) {
	for _, sub := range c.Commands() {
		failuresOf(sub)
	}
	if inner := c.RunE; inner != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			err := inner(c, args)
			var usage usageError
			if err == nil || errors.As(err, &usage) {
				return err
			}
			return failure{err}
		}
	}
}

// usageError is wrong usage that the parser can not see.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
