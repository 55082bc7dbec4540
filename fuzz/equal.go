package fuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/resource"
)

// checkEqual checks that a Conf is not equal to one that differs from it in one leaf, wherever the
// leaf is: in a list, or in a value of a map. An engine drops an edit between Confs that are equal.
func checkEqual(section *resource.Section, confs pool) error {
	tried := map[string]int{} // variants of a leaf
	for _, tree := range confs {
		conf, err := decodeConf(section, []byte(asText(tree)))
		if err != nil {
			return err
		}
		for pointer, other := range variants(asTree(conf)) {
			if tried[pointer]++; tried[pointer] > maxVariants {
				continue
			}
			changed, err := decodeConf(section, []byte(asText(other)))
			if err != nil || Difference(conf, changed) == "" {
				continue // the field needs another value, or the variant is the same Conf
			}
			if section.Conf.Equal(conf, changed) || section.Conf.Equal(changed, conf) {
				return fmt.Errorf("%s and %s are equal, but they differ at %s", asText(conf), asText(changed), pointer)
			}
		}
	}
	return nil
}

// maxVariants is how many variants of a leaf are tried, in all Confs together.
const maxVariants = 6

// variants yields a tree of JSON with one leaf removed or changed, for each leaf, and the path of
// the leaf without its indexes of lists.
func variants(tree any) func(yield func(pointer string, tree any) bool) {
	return func(yield func(string, any) bool) { vary(tree, "", yield) }
}

// vary yields the variants of a tree at a path. It reports whether the caller goes on.
func vary(tree any, path string, yield func(string, any) bool) bool {
	switch tree := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			without := maps.Clone(tree)
			delete(without, key)
			if !yield(path+"/"+key, without) || !vary(tree[key], path+"/"+key, func(p string, below any) bool {
				with := maps.Clone(tree)
				with[key] = below
				return yield(p, with)
			}) {
				return false
			}
		}
	case []any:
		for i := range tree {
			if !vary(tree[i], path+"/-", func(p string, below any) bool {
				with := slices.Clone(tree)
				with[i] = below
				return yield(p, with)
			}) {
				return false
			}
		}
	case bool:
		return yield(path, !tree)
	case string:
		return yield(path, tree+"a") && yield(path, "1"+tree)
	case json.Number:
		if n, err := strconv.ParseInt(tree.String(), 10, 64); err == nil {
			return yield(path, json.Number(strconv.FormatInt(n+1, 10)))
		}
	}
	return true
}
