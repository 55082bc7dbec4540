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

// A loader collects the benchmark output of any number of runs. Only one
// goroutine may use it at a time.
type loader struct {
	reader benchfmt.Reader // carries the unit metadata from run to run

	filter     *benchproc.Filter
	benchmarks *benchproc.Projection
	pkg, name  *benchproc.Field
	unit       *benchproc.Field
	machine    *benchproc.Projection

	machines []benchproc.Key
	all      Results
}

// newLoader returns a loader that keeps the measurements that filter accepts.
func newLoader(filter string) (*loader, error) {
	if filter == "" {
		filter = "*"
	}
	l := loader{all: Results{series: map[benchmarkID][]series{}}}
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
	return &l, nil
}

// add reads the output of one run; file names it in errors. Three things are
// errors: output of a failed run, because a failed benchmark prints no result
// and would be overlooked; lines that begin like a result but are not; and
// measurements that are not a number, because NaN exceeds no limit.
func (l *loader) add(r io.Reader, file string) error {
	output, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	errs := []error{failure(output, file)}
	l.reader.Reset(bytes.NewReader(output), file)
	for l.reader.Scan() {
		switch record := l.reader.Result().(type) {
		case *benchfmt.Result:
			errs = append(errs, l.addResult(record))
		case *benchfmt.SyntaxError:
			errs = append(errs, fmt.Errorf("%s:%d:1: %s; is the output of a benchmark mixed with its log?", record.FileName, record.Line, record.Msg))
		}
	}
	l.all.units = l.reader.Units()
	return errors.Join(append(errs, l.reader.Err())...)
}

func (l *loader) addResult(result *benchfmt.Result) error {
	// The error only explains why everything was filtered out.
	if kept, _ := l.filter.Apply(result); !kept {
		return nil
	}
	if machine := l.machine.Project(result); !slices.Contains(l.machines, machine) {
		l.machines = append(l.machines, machine)
	}
	for i, key := range l.benchmarks.ProjectValues(result) {
		// benchfmt does not tidy the unit of a zero.
		_, unit := benchunit.Tidy(1, key.Get(l.unit))
		benchmark := benchmarkID{Package: key.Get(l.pkg), Name: key.Get(l.name)}
		value := result.Values[i].Value
		if math.IsNaN(value) || math.IsInf(value, 0) {
			file, line := result.Pos()
			return fmt.Errorf("%s:%d:1: %s measured %v %s, which is over no limit; does it divide by zero?", file, line, benchmark.Name, value, unit)
		}
		l.all.add(benchmark, unit, value)
	}
	return nil
}

// results returns the results so far.
func (l *loader) results() *Results {
	r := Results{benchmarks: slices.Clone(l.all.benchmarks), series: map[benchmarkID][]series{}, units: l.all.units}
	for b, all := range l.all.series {
		r.series[b] = slices.Clone(all) // values are only appended to
	}
	for _, field := range benchproc.NonSingularFields(l.machines) {
		r.mixed = append(r.mixed, field.Name)
	}
	return &r
}

// Load reads the output of one run and keeps the measurements that filter
// accepts, an expression of golang.org/x/perf/benchproc/syntax; "" keeps
// everything. file names the output in errors.
func Load(r io.Reader, file, filter string) (*Results, error) {
	l, err := newLoader(filter)
	if err != nil {
		return nil, err
	}
	if err := l.add(r, file); err != nil {
		return nil, err
	}
	return l.results(), nil
}

// ValidateFilter returns an error if filter is not an expression that [Load] accepts.
func ValidateFilter(filter string) error {
	_, err := newLoader(filter)
	return err
}

// failure finds the first line in which a test binary or the go command reports
// a failure.
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
