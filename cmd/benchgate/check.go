package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

const checkLong = `Check applies a rule file to the benchmark output of one run, read from a file or
from standard input (-). It needs no base, because it compares only measurements of
the same run on the same machine:

  # a comment
  ceiling  Merge/confs=2            allocs/op  1
  ceiling  From/*                   B/op       16KiB
  ceiling  Decide                   sec/op     150ns
  ratio    Merge/*/impl=generated / Merge/*/impl=naive  sec/op  <= 0.01
  slope    From/keys=*              sec/op     <= 1.2
  count    From/keys=*              4
  package  bench/index

A benchmark is named without "Benchmark" and -GOMAXPROCS. A star is any text
between slashes. In a ratio it is the same text on both sides. In a slope it is
the size (1000, 10k): the slope of log(measurement) over log(size) is 0 for
constant cost, 1 for linear, 2 for quadratic. A count is the number of benchmarks
that match, so that a missing one is found. The rules below a line "package" apply
to that package, given by its import path or the last elements of it.

If benchmarks are repeated (-count), the best of the times is used, otherwise the
median. A ceiling of a time holds on one machine only: without --times it is listed
as not checked. A rule that matches no benchmark is an error.

Exit status: 0 all rules hold; 1 a rule does not hold or the input is bad; 2 wrong usage.`

const checkExample = `  go test -run='^$' -bench=. -benchmem -count=5 ./bench/... > bench.txt
  benchgate check bench.txt --rules bench/rules.txt
  benchgate check bench.txt --rules bench/rules.txt --times -o json`

func newCheck() *cobra.Command {
	var rulesFile, filter string
	var times bool
	c := &cobra.Command{
		Use:     "check FILE|- --rules RULES",
		Short:   "Check the benchmarks of one run against rules",
		Long:    checkLong,
		Example: checkExample,
		Args:    cobra.ExactArgs(1),
	}
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
