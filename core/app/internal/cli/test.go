package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/report"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newTest(g *globals) *cobra.Command {
	c := withHelp("test", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := g.load(c)
			if err != nil {
				return err
			}
			kind := func(name string) (*resource.Kind, error) { return find.Kind(g.kinds, name) }
			answer := traffic.RunTests(w.view, w.mesh, kind, inspect.Options{Source: g.withSource()})
			if len(answer.Tests) == 0 {
				return errors.New("the input has no AccessTest of the mesh " + w.mesh)
			}
			answer.Warnings = g.unreadDecisions(allRequests)
			if g.output.word == "junit" {
				g.reportLeftOut(c)
				printWarnings(c, answer.Warnings)
				err = writeJUnit(c.OutOrStdout(), answer, g.files)
			} else {
				err = g.print(c, answer, func(p *page) { testPage(p, answer, g.files) })
			}
			return ended(err, nil, !answer.Passed())
		},
	})
	g.moreOutputs(c, "junit")
	return c
}

// testPage prints each assertion that does not hold, and how many do.
func testPage(p *page, t *traffic.TestResults, files []string) {
	passed := 0
	for i := range t.Tests {
		r := &t.Tests[i]
		if r.Result == traffic.TestPass {
			passed++
			continue
		}
		line := fmt.Sprintf("%s  %s: %s", strings.ToUpper(string(r.Result)), r.Name, r.Why)
		if r.Counterexample != nil {
			line += fmt.Sprintf(" by %s: %s", deciderText(p, r.By), counterexample(r.Counterexample, files))
		}
		p.line("%s", line)
	}
	p.line("%d of %s hold", passed, diag.Count(len(t.Tests), "assertion"))
	doubtLines(p, t.Warnings)
}

// counterexample returns the command that shows it, with the files that were read.
func counterexample(e *traffic.Counterexample, files []string) string {
	command := "meshmatch access " + shellQuoted(e.Dataplane) + " --inbound " + shellQuoted(e.Inbound)
	if options := requestOptions(&e.Witness); options != noOptions {
		command += " " + options
	}
	for _, file := range files {
		command += " -f " + shellQuoted(file)
	}
	return command
}

func deciderText(p *page, by *inspect.Decider) string {
	if by.Default {
		return "default"
	}
	return p.reason(by.KRI, by.Item, by.Source)
}

func writeJUnit(w io.Writer, t *traffic.TestResults, files []string) error {
	suite := report.Suite{Name: "meshmatch"}
	for i := range t.Tests {
		r := &t.Tests[i]
		class, name, _ := strings.Cut(r.Name, ": ")
		c := report.Case{Name: name, Class: class}
		message := &report.Result{Message: r.Why, Text: r.Pos.String()}
		if r.Counterexample != nil {
			message.Text += "\n" + counterexample(r.Counterexample, files)
		}
		switch r.Result {
		case traffic.TestFail:
			c.Failure = message
		case traffic.TestUnknown:
			c.Error = message
		}
		suite.Cases = append(suite.Cases, c)
	}
	data, err := suite.XML()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
