package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/diag"
)

// matrices are the outputs of reach beyond the outputs of all commands.
var matrices = map[string]func(io.Writer, *traffic.Reach) error{"csv": reachCSV, "dot": reachDot, "md": reachMarkdown}

func newReach(g *globals) *cobra.Command {
	var q traffic.ReachQuery
	c := withHelp("reach", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := g.load(c)
			if err != nil {
				return err
			}
			answer, err := traffic.NewReach(w.view, w.mesh, q, inspect.Options{Source: g.withSource()})
			if err != nil {
				return err
			}
			answer.Warnings = g.unreadDecisions(allRequests)
			if write := matrices[g.output.word]; write != nil {
				g.reportLeftOut(c)
				printWarnings(c, answer.Warnings)
				return write(c.OutOrStdout(), answer)
			}
			return g.print(c, answer, func(p *page) { reachPage(p, answer) })
		},
	})
	flags := c.Flags()
	flags.StringVar(&q.To, "to", "", "only the inbounds of this `SERVICE`, or of the dataplane of this name")
	flags.StringVar(&q.From, "from", "", "only this `CLIENT`: a SPIFFE ID, or the identities of a service or of a dataplane")
	g.moreOutputs(c, "csv", "dot", "md")
	return c
}

// reachPage prints a table for each inbound. Clients with equal answers are one row.
func reachPage(p *page, a *traffic.Reach) {
	p.row("semantics", a.Semantics.String())
	if len(a.Clients) == 1 && a.Clients[0].ID == traffic.OtherClients {
		p.line("no dataplane has an identity, so no client is known; select dataplanes with a MeshIdentity")
	}
	for k := range a.Inbounds {
		in := &a.Inbounds[k]
		p.heading(0, "%s, %s", in.Title, diag.Count(in.Dataplanes, "dataplane"))
		var rows []string
		clients := map[string][]string{}
		for i := range a.Clients {
			cell := a.Cell(i, k)
			row := cell.Access + "\x00" + cell.Condition()
			if len(clients[row]) == 0 {
				rows = append(rows, row)
			}
			clients[row] = append(clients[row], a.Clients[i].ID)
		}
		for _, row := range rows {
			word, when, _ := strings.Cut(row, "\x00")
			names := clients[row]
			if !p.wide {
				p.row(word, someOf(names, 5), when)
				continue
			}
			for _, name := range names {
				p.row(word, name, when)
			}
		}
	}
	doubtLines(p, a.Warnings)
}

// reachText returns the word of a cell, with its condition.
func reachText(cell *traffic.ReachCell) string {
	if when := cell.Condition(); when != "" {
		return cell.Access + ": " + when
	}
	return cell.Access
}

// reachRows returns a matrix with a header: clients, then a column for each inbound.
func reachRows(a *traffic.Reach) [][]string {
	header := []string{"client"}
	for i := range a.Inbounds {
		header = append(header, a.Inbounds[i].Title)
	}
	rows := [][]string{header}
	for i := range a.Clients {
		row := []string{a.Clients[i].ID}
		for k := range a.Inbounds {
			row = append(row, reachText(a.Cell(i, k)))
		}
		rows = append(rows, row)
	}
	return rows
}

func reachCSV(w io.Writer, a *traffic.Reach) error {
	var b strings.Builder
	for _, row := range reachRows(a) {
		for k, text := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(plainCell(text))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plainCell returns a cell that no spreadsheet runs as a formula: names, identities and the values of
// conditions are texts of authors. A spreadsheet may leave out spaces, quotes and signs without width, take
// signs of full width for others, and begin a cell at each semicolon.
func plainCell(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	parts := strings.Split(text, ";")
	for i, part := range parts {
		begin := strings.TrimLeftFunc(part, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) })
		if first, size := utf8.DecodeRuneInString(begin); size > 0 && strings.ContainsRune("=+-@＝＋－＠", first) {
			parts[i] = "'" + part
		}
	}
	if text = strings.Join(parts, ";"); strings.ContainsAny(text, "\",;") || strings.TrimSpace(text) != text {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

func reachMarkdown(w io.Writer, a *traffic.Reach) error {
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "\n", " ")
	for i, row := range reachRows(a) {
		for k := range row {
			row[k] = escape.Replace(row[k])
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
		if i == 0 {
			if _, err := fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(row))); err != nil {
				return err
			}
		}
	}
	return nil
}

// reachDot prints a graph with an edge for each pair with some access.
func reachDot(w io.Writer, a *traffic.Reach) error {
	var b strings.Builder
	b.WriteString("digraph reach {\n  rankdir=LR;\n")
	for i := range a.Clients {
		fmt.Fprintf(&b, "  c%d [label=%s];\n", i, strconv.Quote(a.Clients[i].ID))
	}
	for k := range a.Inbounds {
		fmt.Fprintf(&b, "  i%d [label=%s, shape=box];\n", k, strconv.Quote(a.Inbounds[k].Title))
	}
	for i := range a.Clients {
		for k := range a.Inbounds {
			if cell := a.Cell(i, k); cell.Access != "none" {
				fmt.Fprintf(&b, "  c%d -> i%d [label=%s];\n", i, k, cell.Access)
			}
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
