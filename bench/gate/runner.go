package gate

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// A job is a set of benchmarks of a pair of programs, run as one process per
// side and round.
type job struct {
	pair
	bench string // the regular expression for -test.bench
}

// A runner runs jobs in interleaved rounds.
type runner struct {
	config Config
}

// rounds runs every job as often as configured and returns what both sides
// printed. The sides take turns (A B, B A, A B, ...), so that what changes
// slowly on the machine, such as heat or a neighbour, hits both alike. Programs
// without a partner run once, for the names of their benchmarks.
func (r *runner) rounds(ctx context.Context, what string, jobs []job) (base, head *Results, err error) {
	sides := make(map[string]*Loader, 2)
	for _, name := range []string{"base", "head"} {
		if sides[name], err = NewLoader(r.config.Filter); err != nil {
			return nil, nil, err
		}
	}
	for round := range r.config.Rounds {
		for i, j := range jobs {
			if round > 0 && (j.base == nil || j.head == nil) {
				continue
			}
			r.config.Progress.Step("%s: round %d/%d, %d/%d", what, round+1, r.config.Rounds, i+1, len(jobs))
			turns := []string{"base", "head"}
			if round%2 == 1 {
				turns = []string{"head", "base"}
			}
			for _, name := range turns {
				if err := r.runOnce(ctx, name, j, sides[name]); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return sides["base"].Results(), sides["head"].Results(), nil
}

// runOnce runs one side of a job as one process.
func (r *runner) runOnce(ctx context.Context, name string, j job, into *Loader) error {
	program := j.base
	if name == "head" {
		program = j.head
	}
	if program == nil {
		return nil
	}
	args := []string{"-test.run=^$", "-test.bench=" + j.bench, "-test.benchmem", fmt.Sprintf("-test.cpu=%d", r.config.CPU)}
	if r.config.BenchTime != "" {
		args = append(args, "-test.benchtime="+r.config.BenchTime)
	}
	label := strings.TrimSpace(name + " " + program.Package)
	output, err := run(ctx, program.Dir, program.Path, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	return into.Add(bytes.NewReader(output), label)
}

// confirmJobs makes one job per suspect, so that nothing else runs with it.
func (r *runner) confirmJobs(all []job, suspects []Benchmark) []job {
	var jobs []job
	for _, suspect := range suspects {
		for _, j := range all {
			if j.head != nil && (j.head.Package == suspect.Package || len(all) == 1) {
				jobs = append(jobs, job{j.pair, r.exactly(suspect)})
				break
			}
		}
	}
	return jobs
}

// exactly is the -test.bench expression for one benchmark: the testing package
// matches it part by part, without the suffix that it appends for -test.cpu.
func (r *runner) exactly(b Benchmark) string {
	name := "Benchmark" + b.Name
	if r.config.CPU != 1 {
		name = strings.TrimSuffix(name, fmt.Sprintf("-%d", r.config.CPU))
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}
