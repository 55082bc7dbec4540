package gate

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An execution is a program with the benchmarks that it runs.
type execution struct {
	*program
	bench string // the regular expression for -test.bench
}

// A job runs both sides in turns, with one process for each side and round. A
// side that does not have the package is nil.
type job struct{ base, head *execution }

// A measurement collects the output of both sides in interleaved rounds.
type measurement struct {
	config     Config
	what       string // for [Config.Progress]
	jobs       []job
	base, head *loader
	rounds     int // so far
}

func newMeasurement(c Config, what string, jobs []job) (*measurement, error) {
	m := &measurement{config: c, what: what, jobs: jobs}
	var err error
	if m.base, err = newLoader(c.Filter); err != nil {
		return nil, err
	}
	m.head, err = newLoader(c.Filter)
	return m, err
}

// decide runs the jobs and compares the sides. Inconclusive benchmarks run
// again until they are conclusive or have run the maximum number of times.
func (m *measurement) decide(ctx context.Context) ([]Row, error) {
	for jobs := m.jobs; ; {
		if err := m.run(ctx, jobs); err != nil {
			return nil, err
		}
		rows := m.compare()
		unclear := having(rows, Inconclusive)
		if len(unclear) == 0 || m.rounds >= m.config.maxRounds() {
			return rows, nil
		}
		jobs = m.jobsOf(unclear)
	}
}

func (m *measurement) compare() []Row {
	return compare(m.base.results(), m.head.results(), m.config.Renames, m.config.Limits)
}

// run runs every job the configured number of times. The sides take turns (A B,
// B A, A B, ...). So slow changes of the machine, such as its temperature or
// other load, affect both equally. A program without a counterpart runs once,
// to find the names of its benchmarks, unless one of these was renamed.
func (m *measurement) run(ctx context.Context, jobs []job) error {
	for i := range m.config.Rounds {
		for at, j := range jobs {
			if m.rounds > 0 && (j.base == nil || j.head == nil) && !m.renamed(j) {
				continue
			}
			m.config.step("%s: round %d/%d, %d/%d", m.what, m.rounds+1, m.rounds-i+m.config.Rounds, at+1, len(jobs))
			first := func() error { return m.runOnce(ctx, "base", j.base, m.base) }
			second := func() error { return m.runOnce(ctx, "head", j.head, m.head) }
			if m.rounds%2 == 1 {
				first, second = second, first
			}
			if err := first(); err != nil {
				return err
			}
			if err := second(); err != nil {
				return err
			}
		}
		m.rounds++
	}
	return nil
}

// renamed reports whether the program of a job without a counterpart has a
// benchmark that another package has on the other side.
func (m *measurement) renamed(j job) bool {
	return slices.ContainsFunc(m.compare(), func(r Row) bool {
		return r.Former != (benchmarkID{}) && (j.base != nil && j.base.has(r.Former) || j.head != nil && j.head.has(r.Benchmark))
	})
}

// runOnce runs one side of a job as one process.
func (m *measurement) runOnce(ctx context.Context, name string, e *execution, into *loader) error {
	if e == nil {
		return nil
	}
	args := []string{"-test.run=^$", "-test.bench=" + e.bench, "-test.benchmem", fmt.Sprintf("-test.cpu=%d", m.config.CPU)}
	if m.config.Skip != "" {
		args = append(args, "-test.skip="+m.config.Skip)
	}
	if m.config.BenchTime != "" {
		args = append(args, "-test.benchtime="+m.config.BenchTime)
	}
	label := strings.TrimSpace(name + " " + e.Package)
	output, err := run(ctx, e.Dir, e.Path, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	return into.add(bytes.NewReader(output), label)
}

// jobsOf makes one job for each benchmark, so that each runs alone.
func (m *measurement) jobsOf(rows []Row) []job {
	var jobs []job
	for _, row := range rows {
		former := row.Former
		if former == (benchmarkID{}) {
			former = row.Benchmark
		}
		var one job
		for _, j := range m.jobs {
			if j.base != nil && j.base.has(former) {
				one.base = &execution{j.base.program, m.exactly(former)}
			}
			if j.head != nil && j.head.has(row.Benchmark) {
				one.head = &execution{j.head.program, m.exactly(row.Benchmark)}
			}
		}
		jobs = append(jobs, one)
	}
	return jobs
}

// exactly is the -test.bench expression for one benchmark: the testing package
// matches it part by part, without the suffix that it appends for -test.cpu.
func (m *measurement) exactly(b benchmarkID) string {
	name := "Benchmark" + b.Name
	if m.config.CPU != 1 {
		name = strings.TrimSuffix(name, fmt.Sprintf("-%d", m.config.CPU))
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}
