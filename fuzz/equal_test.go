package fuzz

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestEqualComparesEachField makes an Equal that leaves out one nested field of each built-in Conf: it is
// found, in lists and maps too.
func TestEqualComparesEachField(t *testing.T) {
	fields := 0
	for _, kind := range kinds.BuiltIn() {
		for _, section := range kindSections(kind) {
			paths := map[string]bool{}
			confs, err := newPool(section, newAlphabet(nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, tree := range confs[:min(8, len(confs))] {
				conf, err := decodeConf(section, []byte(asText(tree)))
				if err != nil {
					t.Fatal(err)
				}
				for path, variant := range variants(asTree(conf)) {
					if paths[path] {
						continue
					}
					changed, err := decodeConf(section, []byte(asText(variant)))
					if err == nil && strings.Count(path, "/") > 1 && Difference(conf, changed) != "" {
						paths[path] = true
					}
				}
			}
			all := slices.Sorted(maps.Keys(paths))
			if len(all) == 0 {
				continue
			}
			path := strings.Split(all[len(all)/2][1:], "/")
			broken := *section
			broken.Conf = brokenType{ConfType: section.Conf, equal: func(a, b resource.Conf) bool {
				return Difference(stripped(asTree(a), path), stripped(asTree(b), path)) == ""
			}}
			if err := checkEqual(&broken, confs); err == nil {
				t.Errorf("%s: an Equal without %v is not found", kind.Name, path)
			}
			fields++
			if err := checkEqual(section, confs); err != nil {
				t.Errorf("%s: %v", kind.Name, err)
			}
		}
	}
	if fields < 10 {
		t.Errorf("only %d fields were left out", fields)
	}
}

// stripped returns a tree without the field at a path; "-" is each element of a list.
func stripped(tree any, path []string) any {
	switch tree := tree.(type) {
	case map[string]any:
		without := maps.Clone(tree)
		if below, has := tree[path[0]]; has && len(path) > 1 {
			without[path[0]] = stripped(below, path[1:])
		} else {
			delete(without, path[0])
		}
		return without
	case []any:
		if path[0] != "-" || len(path) == 1 {
			return tree
		}
		var all []any
		for _, below := range tree {
			all = append(all, stripped(below, path[1:]))
		}
		return all
	}
	return tree
}
