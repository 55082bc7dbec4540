package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

func newCheck() *cobra.Command {
	var rulesFile, filter, again string
	var times bool
	c := withHelp("check", &cobra.Command{
		Args: cobra.ExactArgs(1),
	})
	format := addOutputFlag(c)
	flags := c.Flags()
	flags.StringVar(&rulesFile, "rules", "", "the rule file")
	flags.BoolVar(&times, "times", false, "check ceilings of times too, on the machine for which they were written")
	flags.StringVar(&filter, "filter", "", "measurements to check, in the syntax of golang.org/x/perf/benchproc")
	flags.StringVar(&again, "again", "", "command that measures packages once more if their rules do not hold")
	c.RunE = func(c *cobra.Command, args []string) error {
		if rulesFile == "" {
			return errors.New("there are no rules: give their file with --rules")
		}
		if again != "" && args[0] == "-" {
			return errors.New("--again adds to a file, so it cannot be used with standard input")
		}
		if err := gate.ValidateFilter(filter); err != nil {
			return err
		}
		rules, err := readFile(rulesFile, gate.ParseRules)
		if err != nil {
			return failure{err}
		}
		check := func() (gate.Outcomes, error) {
			results, err := readResults(args[0], filter, c.InOrStdin())
			if err != nil {
				return nil, err
			}
			return rules.Check(results, times)
		}
		outcomes, err := check()
		if err != nil {
			return failure{err}
		}
		if packages := outcomes.FailedPackages(); again != "" && len(packages) > 0 {
			fmt.Fprintln(c.ErrOrStderr(), strings.Join(outcomes.Failures(), "\n"))
			if err := measureAgain(c.Context(), c.ErrOrStderr(), again, packages, args[0]); err != nil {
				return failure{err}
			}
			if outcomes, err = check(); err != nil {
				return failure{err}
			}
		}
		return printReport(c.OutOrStdout(), *format, outcomes)
	}
	return c
}

// measureAgain runs the command with the packages behind its words, and adds what it prints to the file.
func measureAgain(ctx context.Context, log io.Writer, command string, packages []string, path string) error {
	words := slices.Concat(strings.Fields(command), packages)
	fmt.Fprintln(log, "again:", strings.Join(words, " "))
	run := exec.CommandContext(ctx, words[0], words[1:]...)
	var printed bytes.Buffer
	run.Stdout, run.Stderr = &printed, log
	if err := run.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, printed.Bytes())
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(printed.Bytes())
	return errors.Join(err, file.Close())
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
