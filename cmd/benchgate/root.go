package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

// Exit codes.
const (
	exitPass  = 0
	exitFail  = 1 // the gate failed, or bad input
	exitUsage = 2
)

// errFailed indicates that the gate failed; its report has been printed.
var errFailed = errors.New("the gate failed")

// failure is an error of a command with correct usage.
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
		return exitPass
	case errors.Is(err, errFailed):
		return exitFail
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "benchgate: interrupted; all temporary files are removed")
		return exitFail
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, err)
		return exitFail
	}
	fmt.Fprintf(stderr, "benchgate: %v\n", err)
	fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	return exitUsage
}

// helpTexts has a file for each command.
//
//go:embed help
var helpTexts embed.FS

// withHelp adds to a command what its file in help has: how it is used in the first line, what it
// does in the second, then the rest and the examples.
func withHelp(name string, c *cobra.Command) *cobra.Command {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // it is in the program
	}
	about, examples, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\nExamples:\n")
	c.Use, about, _ = strings.Cut(about, "\n")
	c.Short, about, _ = strings.Cut(about, "\n")
	c.Long, c.Example = strings.TrimSpace(about), examples
	return c
}

func newRoot() *cobra.Command {
	root := withHelp("benchgate", &cobra.Command{
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	})
	root.AddCommand(newCompare(), newCheck(), newGrowth())
	return root
}

// A report is the result of a gate.
type report interface {
	OK() bool
	WriteTable(io.Writer) error
	WriteJSON(io.Writer) error
	WriteMarkdown(io.Writer) error
}

// printReport prints r in the format of -o. It returns errFailed if the gate failed.
func printReport(w io.Writer, format output, r report) error {
	write := map[string]func(io.Writer) error{"table": r.WriteTable, "json": r.WriteJSON, "markdown": r.WriteMarkdown}
	if comparison, ok := r.(*gate.Comparison); ok {
		write["svg"] = func(w io.Writer) error { return writeSVG(w, comparison) }
	}
	if err := write[format.word](w); err != nil {
		return failure{err}
	}
	if !r.OK() {
		return errFailed
	}
	return nil
}

// output is the value of -o: one of the words.
type output struct {
	word  string
	words []string
}

// addOutputFlag adds -o with table, json, markdown and further formats.
func addOutputFlag(c *cobra.Command, further ...string) *output {
	o := &output{"table", append([]string{"table", "json", "markdown"}, further...)}
	last := len(o.words) - 1
	c.Flags().VarP(o, "output", "o", "format: "+strings.Join(o.words[:last], ", ")+" or "+o.words[last])
	return o
}

func (o *output) String() string { return o.word }

func (o *output) Type() string { return "format" }

func (o *output) Set(text string) error {
	if last := len(o.words) - 1; !slices.Contains(o.words, text) {
		return errors.New("the formats are " + strings.Join(o.words[:last], ", ") + " and " + o.words[last])
	}
	o.word = text
	return nil
}
