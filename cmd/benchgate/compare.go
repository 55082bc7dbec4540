package main

import (
	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/bench/gate"
)

const compareLong = `Compare builds the benchmarks of a base and of the head, runs both alternately
(A B, B A, ...), one process per run, and compares them:

  allocs/op, work counters   exactly: any increase fails
  B/op                       with the tolerance of --bytes-tolerance and 16 B, since
                             the growth of memory that is kept between iterations
                             is divided by b.N
  times                      a benchmark is suspect if its best time is worse by
                             --threshold and the Mann-Whitney U test agrees
                             (p < --alpha); it fails if a second round of new runs,
                             of the suspects only, finds the same

A work counter is any other unit that a benchmark reports with b.ReportMetric.

A time is inconclusive if it is so noisy that the head could be worse by twice the
accepted ratio. Such benchmarks run again, up to --max-rounds, with at least 30 runs
of 1 ms: on a busy machine many short runs are better than a few long ones. If one
is still inconclusive, the result is INCONCLUSIVE instead of PASS, and the exit
status is 0, or 1 with --fail-on-inconclusive.

A benchmark that the head does not have is a warning, or an error with
--fail-on-missing. If it was renamed, list it in the file given with --renames:

  # PACKAGE BENCHMARK -> PACKAGE BENCHMARK, the name in the base first
  bench Select -> core/internal/match Select

With -o svg the ratios are a picture: the ratio of each measurement that differs, with
the interval of its runs. The verdicts have shapes: worse is a triangle, better a circle.

The base is a revision (its merge base with HEAD is checked out in a temporary
worktree), a directory, or a test binary made by go test -c.

Exit status: 0 nothing is worse; 1 the gate fails or the input is bad; 2 wrong usage.`

const compareExample = `  # in CI, for a pull request against main (fetch its history first)
  benchgate compare --base origin/main --pkg ./bench/... --fail-on-inconclusive

  # as a comment for the pull request
  benchgate compare --base origin/main --fail-on-missing -o markdown

  # as a picture
  benchgate compare --base origin/main -o svg > benchmarks.svg

  # one benchmark, quickly, before a commit
  benchgate compare --base HEAD --bench '^BenchmarkFrom$' --benchtime 50ms

  # counts only, where times are meaningless
  benchgate compare --base origin/main --filter '-.unit:sec/op' -o json

  # two binaries
  benchgate compare --base old.test --head new.test`

func newCompare() *cobra.Command {
	config := gate.DefaultConfig("")
	var renames string
	var failOnInconclusive, failOnMissing bool
	c := &cobra.Command{
		Use:     "compare --base REV|DIR|BINARY",
		Short:   "Compare the benchmarks of a base and the head",
		Long:    compareLong,
		Example: compareExample,
		Args:    cobra.NoArgs,
	}
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
