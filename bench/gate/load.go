package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// A Loader gathers the benchmark output of any number of runs into one
// [Results]. One goroutine uses it at a time.
type Loader struct {
	reader benchfmt.Reader // carries the unit metadata from run to run

	filter     *benchproc.Filter
	benchmarks *benchproc.Projection
	pkg, name  *benchproc.Field
	unit       *benchproc.Field
	machine    *benchproc.Projection

	machines []benchproc.Key
	results  *Results
}

// NewLoader returns a loader that keeps what filter accepts, an expression of
// golang.org/x/perf/benchproc/syntax; "" keeps everything.
func NewLoader(filter string) (*Loader, error) {
	if filter == "" {
		filter = "*"
	}
	var l Loader
	var err error
	if l.filter, err = benchproc.NewFilter(filter); err != nil {
		return nil, fmt.Errorf("filter %q: %w", filter, err)
	}
	var parser benchproc.ProjectionParser
	if l.benchmarks, l.unit, err = parser.ParseWithUnit("pkg,.fullname", l.filter); err != nil {
		return nil, err
	}
	if l.machine, err = parser.Parse("goos,goarch,cpu", l.filter); err != nil {
		return nil, err
	}
	fields := l.benchmarks.Fields()
	l.pkg, l.name = fields[0], fields[1]
	l.results = &Results{series: map[Benchmark][]series{}}
	return &l, nil
}

// Add reads one run's output; file names it in errors. It refuses output of a
// run that failed (a benchmark that failed prints no result and would go
// unnoticed), lines that begin like a result and are none, and measurements
// that are no number (NaN is worse than nothing).
func (l *Loader) Add(r io.Reader, file string) error {
	output, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	errs := []error{failure(output, file)}
	l.reader.Reset(bytes.NewReader(output), file)
	for l.reader.Scan() {
		switch record := l.reader.Result().(type) {
		case *benchfmt.Result:
			errs = append(errs, l.add(record))
		case *benchfmt.SyntaxError:
			errs = append(errs, fmt.Errorf("%s:%d:1: %s; is the output of a benchmark mixed with its log?", record.FileName, record.Line, record.Msg))
		}
	}
	l.results.units = l.reader.Units()
	return errors.Join(append(errs, l.reader.Err())...)
}

func (l *Loader) add(result *benchfmt.Result) error {
	// The error tells only why everything was filtered out.
	if kept, _ := l.filter.Apply(result); !kept {
		return nil
	}
	if machine := l.machine.Project(result); !slices.Contains(l.machines, machine) {
		l.machines = append(l.machines, machine)
	}
	for i, key := range l.benchmarks.ProjectValues(result) {
		// benchfmt leaves the unit of a zero as it was written.
		_, unit := benchunit.Tidy(1, key.Get(l.unit))
		benchmark := Benchmark{Package: key.Get(l.pkg), Name: key.Get(l.name)}
		value := result.Values[i].Value
		if math.IsNaN(value) || math.IsInf(value, 0) {
			file, line := result.Pos()
			return fmt.Errorf("%s:%d:1: %s measured %v %s, which is over no limit; does it divide by zero?", file, line, benchmark.Name, value, unit)
		}
		l.results.add(benchmark, unit, value)
	}
	return nil
}

// Results returns what was added. The loader must not be used afterwards.
func (l *Loader) Results() *Results {
	for _, field := range benchproc.NonSingularFields(l.machines) {
		l.results.mixed = append(l.results.mixed, field.Name)
	}
	return l.results
}

// Load reads the output of one run; file names it in errors, filter is as in
// [NewLoader].
func Load(r io.Reader, file, filter string) (*Results, error) {
	l, err := NewLoader(filter)
	if err != nil {
		return nil, err
	}
	if err := l.Add(r, file); err != nil {
		return nil, err
	}
	return l.Results(), nil
}

// failure finds the first line by which a test binary or the go command says
// that something failed.
func failure(output []byte, file string) error {
	number := 0
	for line := range bytes.Lines(output) {
		number++
		line = bytes.TrimSpace(line)
		for _, mark := range []string{"--- FAIL", "FAIL\t", "FAIL ", "panic: ", "fatal error: "} {
			if bytes.HasPrefix(line, []byte(mark)) || string(line) == "FAIL" {
				return fmt.Errorf("%s:%d:1: the benchmarks failed: %s", file, number, line)
			}
		}
	}
	return nil
}
