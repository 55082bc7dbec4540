package fuzz

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
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

// FuzzConfigs compares the confs of the engine with those of the reference.
//
//fuzz:executions 750
func FuzzConfigs(f *testing.F) { generator(f).Fuzz(f, compareConfigs) }

// TestSoakConfigs compares 2,000 seeded scenarios of all kinds. With -short it compares a
// tenth of them, with SOAK=10 ten times as many.
func TestSoakConfigs(t *testing.T) {
	scenarios := 2_000 * uint64(Soak(t))
	if testing.Short() {
		scenarios /= 10
	}
	generator(t).Compare(t, scenarios, compareConfigs)
}

// sequential skips a test with -short, as under the race detector: it works in one goroutine,
// and TestSoakConfigs reads the same confs in several ones.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it works in one goroutine")
	}
}

// FuzzMerge checks all laws of CheckKind. The first byte chooses a Conf type, and the
// second one how many Confs the others make.
//
//fuzz:executions 3000
func FuzzMerge(f *testing.F) {
	types := confTypes(f)
	for seed := range uint64(seeds) {
		f.Add(SeededBytes(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &choices{data}
		chosen := types[c.intn(len(types))]
		n := 1 + c.intn(6)
		s := split(c.data, n)
		for _, law := range lawsOf(chosen.section.Conf, nil) {
			for _, source := range confSources(chosen.letters, chosen.t) {
				if err := checkLaw(law, s, source); err != nil {
					t.Errorf("%s: %v", chosen.t, err)
				}
			}
		}
	})
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
			conf, err := confType(section)
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
