package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// realClock are the tests that may wait for the clock of the machine, with the reason.
// A name with a slash at its end is a directory.
var realClock = map[string]string{
	"core/app/internal/e2e/":                            "Envoy and gRPC run on it",
	"core/app/internal/source/etcd/":                    "etcd runs on it",
	"core/app/internal/source/kubernetes/":              "the API server runs on it",
	"core/app/internal/serve/soak_test.go":              "a soak runs as long as it is told",
	"core/app/internal/serve/soak_hostile_test.go":      "its clients are another process",
	"core/app/internal/serve/soak_authors_test.go":      "its clients are another process",
	"core/app/internal/serve/bench_test.go":             "benchmarks measure it",
	"core/app/internal/serve/connections_bench_test.go": "benchmarks measure it",
	"core/app/internal/serve/attack_bench_test.go":      "benchmarks measure it",
	"core/app/internal/serve/fleet_process_test.go":     "the clients of a benchmark are another process",
	"core/app/internal/serve/pages/e2e/":                "a browser runs on it",
	"core/app/internal/relay/bench_test.go":             "benchmarks measure it",
	"core/app/internal/relay/models_bench_test.go":      "benchmarks measure it",
	"core/app/internal/relay/process_test.go":           "the processes of a benchmark run on it",
	"core/app/internal/relay/process_bench_test.go":     "benchmarks measure it",
	"core/app/internal/replicas/":                       "replicas, stores and Envoys run on it as processes",
	"core/app/internal/cli/readme_serve_test.go":        "README's processes run on it",
	"core/app/internal/cli/cluster_page_test.go":        "kubectl and the API server run on it",
	"core/xds/server/bench_test.go":                     "benchmarks measure it",
	"core/xds/server/variants_bench_test.go":            "benchmarks measure it",
}

// waits are the functions that wait for a clock, give up after a time, or measure one, by
// package.
var waits = map[string]map[string]bool{
	"time":    {"Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTicker": true, "NewTimer": true, "Since": true},
	"context": {"WithTimeout": true, "WithTimeoutCause": true, "WithDeadline": true, "WithDeadlineCause": true},
}

// TestTestsHaveNoClock requires that a test that waits for a clock runs in bubbles of
// package synctest. On a slow machine, a test of the real clock fails without a fault, or
// passes because what must not come has not come yet. Such a test waits for an event
// instead: a line of a log, the end of a process, a response.
func TestTestsHaveNoClock(t *testing.T) {
	used := map[string]bool{}
	for name, text := range sources(t, ".go") {
		name = strings.TrimPrefix(name, "../")
		if !strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := waitsOf(file)
		if len(found) == 0 {
			continue
		}
		exception := ""
		for path := range realClock {
			if name == path || strings.HasSuffix(path, "/") && strings.HasPrefix(name, path) {
				exception = path
			}
		}
		if used[exception] = true; exception != "" {
			continue
		}
		for _, call := range found {
			t.Errorf("%s: %s.%s depends on the clock of the machine; use package synctest, or wait for an event", files.Position(call.Pos()), call.X, call.Sel)
		}
	}
	for path, reason := range realClock {
		if !used[path] {
			t.Errorf("no test in %s waits for a clock (%s)", path, reason)
		}
	}
}

// waitsOf returns where a file waits for a clock, nil if it uses bubbles.
func waitsOf(file *ast.File) (found []*ast.SelectorExpr) {
	for _, spec := range file.Imports {
		if spec.Path.Value == `"testing/synctest"` {
			return nil
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok && waits[of.Name][selector.Sel.Name] {
				found = append(found, selector)
			}
		}
		return true
	})
	return found
}
