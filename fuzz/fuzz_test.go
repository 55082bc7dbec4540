package fuzz

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtcproute"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// builtIn is made once: preparing the Confs of all kinds takes as long as a few
// hundred scenarios.
var builtIn = sync.OnceValues(func() (*Generator, error) { return NewGenerator(kinds.All()) })

func generator(t testing.TB) *Generator {
	t.Helper()
	g, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// permissions makes scenarios with only the kind that decides about requests.
func permissions(t testing.TB) *Generator {
	t.Helper()
	return generatorOf(t, meshtrafficpermission.Kind())
}

// withFrom makes scenarios of the kinds with `from`, whose conf depends on the
// client's tags.
func withFrom(t testing.TB) *Generator {
	t.Helper()
	var from []*resource.Kind
	for _, kind := range kinds.BuiltIn() {
		if kind.From != nil {
			from = append(from, kind)
		}
	}
	return generatorOf(t, from...)
}

// withRoutes makes scenarios with routes and kinds that apply to them, including a kind
// with a single conf.
func withRoutes(t testing.TB) *Generator {
	t.Helper()
	single := &resource.Kind{
		Name: "Single", Short: "s", Top: resource.TopTargets | resource.RouteTargets,
		Default: &resource.Section{Conf: meshtimeout.Kind().To.Conf},
	}
	return generatorOf(t, meshtimeout.Kind(), meshhttproute.Kind(), meshtcproute.Kind(), single)
}

// withUnions makes scenarios of kinds with unions, in all arrays and as the single
// conf: an item that is itself overridden can hide lower ones (SPEC 6).
func withUnions(t testing.TB) *Generator {
	t.Helper()
	union := meshloadbalancingstrategy.Kind().To.Conf
	unions := &resource.Kind{
		Name: "Unions", Short: "u", Top: resource.TopTargets,
		To:    &resource.Section{Targets: resource.ServiceTargets, Conf: union},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: union},
		Rules: &resource.Section{Matches: true, Conf: union},
	}
	single := &resource.Kind{Name: "Single", Short: "s", Top: resource.TopTargets, Default: &resource.Section{Conf: union}}
	g := generatorOf(t, unions, single)
	for section, confs := range g.pools {
		g.pools[section] = slices.DeleteFunc(confs, func(conf map[string]any) bool {
			return conf["loadBalancer"] == nil || conf["localityAwareness"] != nil
		})
	}
	return g
}

func generatorOf(t testing.TB, kinds ...*resource.Kind) *Generator {
	t.Helper()
	g, err := NewGenerator(resource.NewKinds(kinds...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// FuzzMatch compares which policies select a dataplane, on which inbounds, in which
// order.
//
//fuzz:executions 600
func FuzzMatch(f *testing.F) {
	fuzzScenarios(f, generator(f), func(s *Scenario) error { return compareSelection(fastPath, s) })
}

// FuzzEffective compares whole answers.
//
//fuzz:executions 750
func FuzzEffective(f *testing.F) {
	fuzzScenarios(f, generator(f), func(s *Scenario) error { return compareAnswers(fastPath, s) })
}

// FuzzFrom compares the rule views of `from` and of `to`.
//
//fuzz:executions 600
func FuzzFrom(f *testing.F) {
	fuzzScenarios(f, withFrom(f), func(s *Scenario) error { return compareViews(fastPath, s) })
}

// FuzzPermission compares decisions about requests.
//
//fuzz:executions 600
func FuzzPermission(f *testing.F) {
	fuzzScenarios(f, permissions(f), func(s *Scenario) error { return compareAccess(fastPath, s) })
}

// fuzzSeeds is how many random inputs a target starts from. They are not stored in
// files, because the meaning of the bytes changes with the alphabets.
const fuzzSeeds = 20

func fuzzScenarios(f *testing.F, g *Generator, compare func(*Scenario) error) {
	f.Helper()
	for seed := range uint64(fuzzSeeds) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := g.Scenario(data); compare(s) != nil {
			t.Error(explain(s, compare))
		}
	})
}

// FuzzMerge checks all laws of CheckKind. The first byte chooses a Conf type, and the
// second one how many Confs the others make.
//
//fuzz:executions 3000
func FuzzMerge(f *testing.F) {
	types := confTypes(f)
	for seed := range uint64(fuzzSeeds) {
		f.Add(randomBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &choices{data}
		chosen := types[c.of(len(types))]
		n := 1 + c.of(6)
		s := split(c.data, n)
		for _, law := range lawsOf(chosen.section.Conf) {
			if err := checkLaw(law, s, chosen.letters, chosen.t); err != nil {
				t.Errorf("%s: %v", chosen.t, err)
			}
		}
	})
}

// split shares decisions among n Confs.
func split(decisions []byte, n int) sequence {
	s := make(sequence, n)
	for i := range s {
		share := len(decisions) / (n - i)
		s[i], decisions = decisions[:share], decisions[share:]
	}
	return s
}

// mergedType is a Conf type of a built-in kind.
type mergedType struct {
	section *resource.Section
	t       reflect.Type
	letters *alphabet
}

// confTypes returns every Conf type of the built-in kinds, once.
func confTypes(t testing.TB) []mergedType {
	t.Helper()
	letters := newAlphabet(nil)
	var types []mergedType
	seen := map[reflect.Type]bool{}
	for _, kind := range kinds.BuiltIn() {
		for _, section := range kindSections(kind) {
			conf, err := confType(kind.Name, section)
			if err != nil {
				t.Fatal(err)
			}
			if !seen[conf] {
				seen[conf] = true
				types = append(types, mergedType{section, conf, letters})
			}
		}
	}
	return types
}

// FuzzDecode reads arbitrary files.
//
//fuzz:executions 9000
func FuzzDecode(f *testing.F) {
	for _, pattern := range []string{"../testdata/demo/*.yaml", "../testdata/seeds/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			// One document each: the fuzzing engine spends a minute on shortening a long
			// input.
			for document := range strings.SplitSeq(string(data), "---\n") {
				f.Add([]byte(document))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := checkDecoding(kinds.All(), data); err != nil {
			t.Error(err)
		}
	})
}
