package gate

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// renameList are the former names of benchmarks that have moved, so that they are
// still compared with their base.
type renameList []rename

// A rename applies to the benchmark and all benchmarks below it (Select,
// Select/policies=100).
type rename struct{ fromPackage, fromName, toPackage, toName string }

const renameForm = "PACKAGE BENCHMARK -> PACKAGE BENCHMARK"

// ParseRenames reads a file of renames; file names it in errors. Each line has
// the form
//
//	PACKAGE BENCHMARK -> PACKAGE BENCHMARK
//
// with the name in the base first. A package is an import path or the end of
// one. A benchmark is named without "Benchmark", and includes all benchmarks
// below it. A word that begins with # begins a comment. A rename is used only
// for a benchmark that the head does not have under its former name.
func ParseRenames(r io.Reader, file string) (renameList, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var renames renameList
	var errs []error
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := splitWords(line)
		switch {
		case len(words) == 0:
		case len(words) != 5 || words[2].text != "->":
			errs = append(errs, fmt.Errorf("%s:%d:%d: not a rename; write: %s", file, number, words[0].column, renameForm))
		default:
			bare := func(i int) string { return strings.TrimPrefix(words[i].text, "Benchmark") }
			renames = append(renames, rename{words[0].text, bare(1), words[3].text, bare(4)})
		}
	}
	return renames, errors.Join(errs...)
}

// apply returns the current name of a benchmark of the base.
func (r rename) apply(b benchmarkID) (benchmarkID, bool) {
	name, procs := cutProcs(b.Name)
	rest, ok := strings.CutPrefix(name, r.fromName)
	if !ok || rest != "" && rest[0] != '/' || !inPackage(b, r.fromPackage) {
		return b, false
	}
	return benchmarkID{strings.TrimSuffix(b.Package, r.fromPackage) + r.toPackage, r.toName + rest + procs}, true
}

// renamed returns the results of the base with the names of the head, and the
// former name of each renamed benchmark.
func (r *Results) renamed(renames renameList, head *Results) (*Results, map[benchmarkID]benchmarkID) {
	out := &Results{series: map[benchmarkID][]series{}, units: r.units, mixed: r.mixed}
	former := map[benchmarkID]benchmarkID{}
	for _, b := range r.benchmarks {
		name := b
		if _, kept := head.series[b]; !kept {
			for _, rename := range renames {
				now, ok := rename.apply(b)
				if _, exists := head.series[now]; ok && exists {
					name, former[now] = now, b
					break
				}
			}
		}
		out.benchmarks = append(out.benchmarks, name)
		out.series[name] = r.series[b]
	}
	return out, former
}
