package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
)

// Exit codes (SPEC 10).
const (
	exitDone  = 0
	exitNo    = 1 // bad input, or the answer is "no"
	exitUsage = 2 // wrong usage; bad input of a command whose exit code 1 is an answer
)

// errNo ends a command whose answer, already printed, is "no".
var errNo = errors.New("the answer is no")

// failure is an error of a command that was used correctly.
type failure struct {
	error
	code int
}

func (f failure) Unwrap() error { return f.error }

// incomplete is an error after everything else of the answer was printed.
type incomplete struct{ error }

func (e incomplete) Unwrap() error { return e.error }

// run executes one command line and returns its exit code.
func (p Program) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, p.globals(), args, stdin, stdout, stderr)
}

func execute(ctx context.Context, g *globals, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(g)
	called(root, pluginName(filepath.Base(os.Args[0])))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	g.warnUnusedExclude(stderr)
	var failed failure
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errNo):
		return exitNo
	case errors.As(err, &failed):
		if !g.reported { // what the error misses may be among what was left out
			g.printLeftOut(stderr)
		}
		printError(stderr, "", failed.error)
		return failed.code
	}
	printError(stderr, root.CommandPath()+": ", err)
	fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	return exitUsage
}

// ended returns how a command ends after it printed an answer: with the error of that, with what limits
// the answer, or as one whose answer is "no".
func ended(err, limit error, no bool) error {
	switch {
	case err != nil:
		return err
	case limit != nil:
		return incomplete{limit}
	case no:
		return errNo
	}
	return nil
}

func newRoot(g *globals) *cobra.Command {
	root := group("meshmatch",
		newCheck(g), newExplain(g), newGet(g), newExport(g), newConf(g), newWhy(g), newReach(g), newPlacement(g), newVariants(g), newCRDs(g),
		newApply(g), newDelete(g), newSnapshot(g), newBootstrap(g),
		group("inspect", newInspectDataplane(g), newInspectPolicy(g)), group("rollout", newRolloutPlan(g)))
	root.AddCommand(marked(answers, newAccess(g), newDiff(g), newMigrate(g), newTest(g), newReplay(g), newAudit(g))...)
	root.AddCommand(marked(serverCommand, newServe(g), newPages(g), newRelay(g), newMCP(g))...)
	root.Long = strings.ReplaceAll(root.Long, "{kinds}", indented(find.KindNames(g.kinds)))
	root.Version = versionText() // not SetVersionTemplate, which links text/template
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		_, isServer := c.Annotations[serverCommand]
		if (isServer || c.Parent() != nil && c.Parent().Name() == "completion") && c.Flags().Changed("output") {
			return usagef("%s takes no --output: it prints no answer", c.Name())
		}
		if g.context != "" && len(g.files) > 0 {
			return errContextAndFiles
		}
		return nil
	}
	flags := root.PersistentFlags()
	flags.StringArrayVarP(&g.files, "file", "f", nil, "a `FILE`, a directory tree, - for standard input, or a store; may be repeated")
	g.store.register(flags)
	flags.StringVar(&g.mesh, "mesh", "", "the `MESH` (default \"default\", or the only one of the input)")
	flags.FuncP("namespace", "n", "the `NAMESPACE`, needed if a name is not unique", func(namespace string) error {
		g.namespace = &namespace
		return nil
	})
	flags.StringVar(&g.context, "context", "", "the `CONTEXT` of the cluster that is read without -f")
	flags.BoolVarP(&g.allNamespaces, "all-namespaces", "A", false, "as a plugin of kubectl without -f: find names and list resources of all namespaces, not only of the context's")
	flags.VarP(&g.output, "output", "o", outputUsage(&g.output))
	flags.Var(&g.semantics, "semantics", "the `NAME` of the way in which policies are read: "+strings.Join(semanticsNames, ", "))
	flags.BoolVar(&g.source, "source", false, "add the file and line of each KRI to JSON and YAML, as in wide tables")
	flags.StringArrayVar(&g.exclude, "exclude", nil, "the `PATTERN` of files and directories to leave out of a directory tree, such as charts or deploy/**/values.yaml; may be repeated")
	flags.StringVar(&g.zone, "zone", "", "the `ZONE` whose control plane stores the documents of files, or global (default: the only zone of the input)")
	flags.BoolVar(&g.strict, "strict", false, "refuse what is left out otherwise: what a control plane stored and does not load, and what is no resource in a directory")
	flags.BoolVar(&g.keepGoing, "keep-going", false, "leave out resources that do not load, and report them in the answer")
	root.SetFlagErrorFunc(flagError)
	for _, c := range root.Commands() {
		failuresOf(c, exitNo)
	}
	g.completions(root)
	return root
}

// indented wraps a list of names for a help text.
func indented(names string) string {
	p := page{width: pageWidth}
	return "  " + strings.Join(p.wrap(names, 2), "\n  ")
}

// The marks of commands: those whose exit code 1 is an answer, and those that serve until they are
// interrupted.
const (
	answers       = "answers"
	serverCommand = "server"
)

func marked(mark string, commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.Annotations = map[string]string{mark: ""}
	}
	return commands
}

// failuresOf marks every error that a command returns as a failure. The errors
// that are not marked come from the parser; they are wrong usage.
func failuresOf(c *cobra.Command, code int) {
	if _, ok := c.Annotations[answers]; ok {
		code = exitUsage
	}
	for _, sub := range c.Commands() {
		failuresOf(sub, code)
	}
	inner := c.RunE
	if inner == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := withFlags(inner(c, args))
		var usage usageError
		var partial incomplete
		switch {
		case err == nil || errors.As(err, &usage) || errors.Is(err, find.ErrUsage):
			return err
		case errors.As(err, &partial):
			return failure{partial.error, exitNo}
		}
		return failure{err, code}
	}
}

// usageError is wrong usage that the parser cannot find.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
