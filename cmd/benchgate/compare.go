package main

import (
	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

func newCompare() *cobra.Command {
	config := gate.DefaultConfig("")
	var renames string
	var failOnInconclusive, failOnMissing bool
	c := withHelp("compare", &cobra.Command{
		Args: cobra.NoArgs,
	})
	format := addOutputFlag(c, "svg")
	flags := c.Flags()
	flags.StringVar(&config.Base, "base", "", "the base: a revision, a directory or a test binary")
	flags.StringVar(&config.Head, "head", config.Head, "the head: a directory or a test binary")
	flags.StringVar(&renames, "renames", "", "file with the previous names of benchmarks that have moved")
	flags.StringSliceVar(&config.Packages, "pkg", config.Packages, "packages to build in a directory, as patterns; repeatable")
	flags.StringVar(&config.Bench, "bench", config.Bench, "run the benchmarks that match this pattern, as go test -bench")
	flags.StringVar(&config.Skip, "skip", "", "skip the benchmarks that match this pattern, as go test -skip")
	flags.StringVar(&config.BenchTime, "benchtime", "200ms", "time or iterations of each run, as go test -benchtime")
	flags.IntVar(&config.Rounds, "rounds", config.Rounds, "runs of each side, at least 10")
	flags.IntVar(&config.MaxRounds, "max-rounds", 0, "runs of each side of an inconclusive benchmark; 0 is 5 times --rounds")
	flags.IntVar(&config.CPU, "cpu", config.CPU, "GOMAXPROCS of the runs")
	flags.Float64Var(&config.Limits.TimeRatio, "threshold", config.Limits.TimeRatio, "ratio of best times above which a benchmark is suspect")
	flags.Float64Var(&config.Limits.Alpha, "alpha", config.Limits.Alpha, "p-value below which the U test agrees")
	flags.Float64Var(&config.Limits.BytesTolerance, "bytes-tolerance", config.Limits.BytesTolerance, "tolerated increase of B/op, as a fraction")
	flags.StringVar(&config.Filter, "filter", "", "measurements to gate, in the syntax of golang.org/x/perf/benchproc")
	flags.BoolVar(&failOnInconclusive, "fail-on-inconclusive", false, "fail if a benchmark is too noisy to judge")
	flags.BoolVar(&failOnMissing, "fail-on-missing", false, "fail if the head does not have a benchmark of the base")
	c.RunE = func(c *cobra.Command, _ []string) error {
		line := gate.LineOn(c.ErrOrStderr())
		config.Progress = func(step string) { line.Step("%s", step) }
		if err := config.Validate(); err != nil {
			return err
		}
		if failOnInconclusive {
			config.FailOn = append(config.FailOn, gate.Inconclusive)
		}
		if failOnMissing {
			config.FailOn = append(config.FailOn, gate.Missing)
		}
		if renames != "" {
			var err error
			if config.Renames, err = readFile(renames, gate.ParseRenames); err != nil {
				return failure{err}
			}
		}
		comparison, err := gate.Run(c.Context(), config)
		line.Done()
		if err != nil {
			return failure{err}
		}
		return printReport(c.OutOrStdout(), *format, comparison)
	}
	return c
}
