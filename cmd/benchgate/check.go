package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

func newCheck() *cobra.Command {
	var rulesFile, filter string
	var times bool
	c := withHelp("check", &cobra.Command{
		Args: cobra.ExactArgs(1),
	})
	format := addOutputFlag(c)
	flags := c.Flags()
	flags.StringVar(&rulesFile, "rules", "", "the rule file")
	flags.BoolVar(&times, "times", false, "check ceilings of times too, on the machine for which they were written")
	flags.StringVar(&filter, "filter", "", "measurements to check, in the syntax of golang.org/x/perf/benchproc")
	c.RunE = func(c *cobra.Command, args []string) error {
		if rulesFile == "" {
			return errors.New("there are no rules: give their file with --rules")
		}
		if err := gate.ValidateFilter(filter); err != nil {
			return err
		}
		rules, err := readFile(rulesFile, gate.ParseRules)
		if err != nil {
			return failure{err}
		}
		results, err := readResults(args[0], filter, c.InOrStdin())
		if err != nil {
			return failure{err}
		}
		outcomes, err := rules.Check(results, times)
		if err != nil {
			return failure{err}
		}
		return printReport(c.OutOrStdout(), *format, outcomes)
	}
	return c
}

// readFile parses a file; errors contain its name.
func readFile[T any](path string, parse func(r io.Reader, file string) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return parse(f, path)
}

func readResults(path, filter string, stdin io.Reader) (*gate.Results, error) {
	parse := func(r io.Reader, file string) (*gate.Results, error) { return gate.Load(r, file, filter) }
	if path == "-" {
		return parse(stdin, path)
	}
	return readFile(path, parse)
}
