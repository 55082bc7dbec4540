package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/diag"
)

var outputs = []string{"table", "wide", "json", "yaml"}

// moreOutputs gives a command outputs of its own, beside those of all commands.
func (g *globals) moreOutputs(c *cobra.Command, more ...string) {
	form := &choice{outputs[0], append(slices.Clone(outputs), more...)}
	c.Flags().VarP(form, "output", "o", outputUsage(form))
	c.PreRun = func(*cobra.Command, []string) { g.output.word = form.word }
}

func outputUsage(form *choice) string {
	return "the `FORMAT` of the answer: " + strings.Join(form.words, ", ")
}

// wide reports whether tables have KRIs and file:line instead of names.
func (g *globals) wide() bool { return g.output.word == "wide" }

// withSource reports whether answers have file:line of what a KRI identifies.
func (g *globals) withSource() bool { return g.source || g.wide() }

// isTable reports whether the answer is printed for a person.
func (g *globals) isTable() bool { return g.output.word == "table" || g.wide() }

// print writes an answer: as JSON or YAML, or by table for a person.
func (g *globals) print(c *cobra.Command, answer any, table func(*page)) error {
	if !g.isTable() {
		return g.encode(c.OutOrStdout(), g.withIncomplete(c, answer))
	}
	g.reportLeftOut(c)
	p := newPage(c.OutOrStdout())
	p.wide = g.wide()
	table(p)
	return p.flush()
}

// printed prints an answer by its table, as [globals.print] does, unless there is an error.
func printed[A any](g *globals, c *cobra.Command, answer A, err error, table func(*page, A)) error {
	if err != nil {
		return err
	}
	return g.print(c, answer, func(p *page) { table(p, answer) })
}

// encode writes an answer as YAML with -o yaml, else as JSON.
func (g *globals) encode(w io.Writer, answer any) error {
	encode := inspect.JSON
	if g.output.word == "yaml" {
		encode = toYAML
	}
	data, err := encode(answer)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// printError writes one line for each error that err joins. Whatever a terminal
// may act on is escaped.
func printError(w io.Writer, prefix string, err error) {
	var diagnostics diag.Errors
	joined, isJoined := err.(interface{ Unwrap() []error })
	switch {
	case isJoined:
		for _, e := range joined.Unwrap() {
			printError(w, prefix, e)
		}
	case errors.As(err, &diagnostics):
		for _, d := range diagnostics {
			fmt.Fprintln(w, prefix+diag.OneLine(d.Line()))
		}
	default:
		fmt.Fprintln(w, prefix+diag.OneLine(err.Error()))
	}
}

// listed joins names for a table.
func listed(names []string) string { return strings.Join(names, ", ") }
