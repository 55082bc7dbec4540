package core_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/meshmatch/meshmatch/"

// layers are what packages must not import, so that data flow from files to proxies and
// never back. Packages of this module are without its path.
var layers = []struct{ name, packages, imports string }{
	{"sets, diagrams and positions are of any data", `^(index|core/partition|core/diag|core/internal/(hashtable|sorted))$`, `^core/`},
	{"fields do not depend on resources", `^core/(strict|conf|conf/spiffe|internal/regex)$`, `^core/(resource|rules|kind/.*)$`},
	{"resources do not depend on what is computed of them", `^core/(resource|kind/mesh[a-z]+)$`, `^core($|/(rules|enforce|internal/mesh|internal/match|internal/blocks|permission|inspect|variant|xds|serve|source))`},
	{"a kind does not depend on another one", `^core/kind/mesh[a-z]+$`, `^core/kind/mesh`},
	{"results do not depend on the index of policies", `^core/(rules|partition|request)$`, `^(index|core/internal/match|core/enforce)$`},
	{"placements do not depend on confs", `^core/enforce(/ocm|/rollout)?$`, `^core/(rules|kind/.*|internal/.*)$`},
	{"the engine does not depend on its readers", `^core(/internal/.*)?$`, `^core/(permission|inspect|variant|xds|serve|source)`},
	{"the work on one mesh is the engine's", `^(cmd|bench|fuzz|core/.+)$`, `^core/internal/mesh$`},
	{"Envoy is the subject of core/xds alone", `^core(/(inspect|permission|rules|resource|conf|identity|enforce|internal|request|source)(/.*)?)?$`, `^(github.com/envoyproxy|google.golang.org/grpc)/`},
	{"resources of proxies do not depend on streams", `^core/xds(/translators|/rbac)?$`, `^(core/xds/server|core/serve|google.golang.org/grpc($|/)|net/http$)`},
	{"streams do not depend on policies", `^core/xds/server$`, `^core/(resource|rules|kind|enforce|inspect|variant)`},
	{"the gate is of any module", `^bench/(gate|progress)$`, `^(bench|cmd|core|fuzz|gen|index)($|/)`},
	{"the command of the gate is of any module", `^cmd/benchgate$`, `^(bench/(shape|world)|cmd|core|fuzz|gen|index)($|/)`},
	{"nothing depends on commands, and production code not on tests", `^core/`, `^(cmd|bench)/`},
}

func TestLayers(t *testing.T) {
	reached := make([]bool, len(layers))
	for path, text := range sources(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
		for i, layer := range layers {
			if !regexp.MustCompile(layer.packages).MatchString(own) {
				continue
			}
			reached[i] = true
			for _, spec := range file.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if imported = strings.TrimPrefix(imported, module); regexp.MustCompile(layer.imports).MatchString(imported) {
					t.Errorf("%s imports %s: %s", path, imported, layer.name)
				}
			}
		}
	}
	for i, layer := range layers {
		if !reached[i] {
			t.Errorf("%s: no package is %s", layer.name, layer.packages)
		}
	}
}
