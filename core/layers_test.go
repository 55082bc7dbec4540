package core_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/meshmatch/meshmatch/"

// layers are the packages that others must not import, directly or indirectly. Packages
// of this module are named without its path. The allowed imports are in order.
var layers = []struct{ name, packages, reaches string }{
	{"sets, diagrams and positions are of any data", `^(index|core/internal/partition|core/diag|core/internal/(each|hashtable|loglimit|sorted|weakcache))$`, `^core/`},
	{"a kind does not depend on another one", `^core/kind/mesh[a-z]+$`, `^core/kind/mesh`},
	{"what a field changes is data", `^core/internal/effect$`, `^(core|index)($|/)|^(github.com/envoyproxy|google.golang.org)/`},
	{"results do not depend on the index of policies", `^core/(results|internal/(partition|request))$`, `^(index|core/internal/match|core/internal/enforce)$`},
	{"placements do not depend on confs", `^core/internal/enforce(/ocm|/rollout)?$`, `^core/(results|kind/.*|internal/(mesh|match|blocks))$`},
	{"the engine does not depend on its readers", `^core$`, `^core/(permission|internal/variant|xds)`},
	{"an answer does not depend on other answers", `^core/app/internal/inspect/(check|diff|find|placement|traffic|why)$`, `^core/app/internal/inspect/(check|diff|placement|traffic|why)$`},
	{"the library does not depend on the application", `^(core$|core/(resource|results|conf|diag|kind|xds|permission|internal)|index|gen|fuzz)`, `^core/app`},
	{"Envoy is the subject of xds alone", `^core(/permission|/(results|resource|conf)|/internal/(identity|enforce|request|access|partition|semantics|destination)(/.*)?|/app/internal/inspect(/.*)?|/app/internal/source(/sourcetest)?)?$`, `^(github.com/envoyproxy|google.golang.org/grpc)/`},
	{"resources of proxies do not depend on streams", `^core/(xds(/translators|/snapshot|/wire)?|internal/xds/(rbac|bootstrap|message))$`, `^(core/xds/server|google.golang.org/grpc($|/))`},
	{"a translator does not depend on how drafts are built", `^core/(xds(/translators)?|internal/xds/(rbac|sds))$`, `^core/(xds/snapshot|internal/xds/bootstrap)$`},
	{"resources of proxies do not depend on answers", `^core/(xds|internal/xds)(/.*)?$`, `^core/app/internal/inspect($|/)`},
	{"messages do not depend on policies", `^core/internal/xds/message$`, `^core($|/(resource|results|kind|permission|internal/(enforce|identity|variant)))`},
	{"what is sent is bytes", `^core/xds/wire$`, `^(github.com/envoyproxy|google.golang.org)/`},
	{"the gate is of any module", `^bench/gate$`, `^(bench|cmd|core|fuzz|gen|index)($|/)`},
	{"the command of the gate is of any module", `^cmd/benchgate$`, `^(cmd/(meshmatch|confgen)|core|fuzz|gen|index)($|/)`},
}

// reachOnly are the packages of this module that a package may reach.
var reachOnly = map[string][]string{
	"core/xds/server":         {"core/xds/server/internal/guard", "core/xds/wire", "core/internal/loglimit", "core/internal/sorted", "core/internal/xds/fields"},
	"core/xds/wire":           nil,
	"core/app/internal/relay": {"core/app/internal/kept", "core/internal/regular", "core/internal/xds/capability", "core/xds/server", "core/xds/server/internal/guard", "core/xds/wire", "core/internal/variant/constraint", "core/internal/lists", "core/internal/loglimit", "core/internal/sorted", "core/internal/weakcache", "core/internal/partition", "core/internal/xds/fields"},
}

func TestLayers(t *testing.T) {
	graph := importGraph(t)
	for _, layer := range layers {
		packages, reaches := regexp.MustCompile(layer.packages), regexp.MustCompile(layer.reaches)
		found := false
		for path := range graph {
			if !packages.MatchString(path) {
				continue
			}
			found = true
			for reached, by := range reach(graph, path) {
				if reaches.MatchString(reached) {
					t.Errorf("%s: %s reaches %s by %s", layer.name, path, reached, by)
				}
			}
		}
		if !found {
			t.Errorf("%s: no package is %s", layer.name, layer.packages)
		}
	}
	for path, allowed := range reachOnly {
		for reached, by := range reach(graph, path) {
			if graph[reached] != nil && !slices.Contains(allowed, reached) {
				t.Errorf("%s reaches %s by %s; of this module it may reach %q", path, reached, by, allowed)
			}
		}
	}
	for path, imports := range graph {
		if imports["unsafe"] {
			t.Errorf("%s imports unsafe: what is one value is one pointer, which can be compared", path)
		}
		if imports["core/internal/mesh"] && path != "core" {
			t.Errorf("%s imports core/internal/mesh: the work on one mesh is the engine's", path)
		}
	}
}

// importGraph returns what each package imports outside of tests.
func importGraph(t *testing.T) map[string]map[string]bool {
	t.Helper()
	graph := map[string]map[string]bool{}
	for path, text := range sources(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		if graph[own] == nil {
			graph[own] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			graph[own][strings.TrimPrefix(imported, module)] = true
		}
	}
	return graph
}

// reach returns what a package imports, directly or indirectly, each with the package
// that imports it.
func reach(graph map[string]map[string]bool, from string) map[string]string {
	reached := map[string]string{}
	var visit func(string)
	visit = func(path string) {
		for imported := range graph[path] {
			if _, known := reached[imported]; !known {
				reached[imported] = path
				visit(imported)
			}
		}
	}
	visit(from)
	return reached
}
