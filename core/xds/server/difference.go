package server

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// same reports whether two resources have the same content. Most are the same
// pointer.
func same(a, b *wire.Resource) bool {
	return a == b || a.Version == b.Version
}

// identical reports whether two slices are the same slice.
func identical[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// differences calls visit for the names whose resources are not the same pointer in
// two sorted slices. It visits them in order, with the resources of the name; one of
// them may be nil. It ends when visit returns false.
func differences(a, b []*wire.Resource, visit func(a, b *wire.Resource) bool) {
	if identical(a, b) {
		return
	}
	// Most slices differ in one place.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for x, y := range sorted.Join(a, b, compareNames) {
		if x != y && !visit(x, y) {
			return
		}
	}
}

func compareNames(a, b *wire.Resource) int { return strings.Compare(a.Name, b.Name) }

// sortResources sorts by name.
func sortResources(in []*wire.Resource) {
	slices.SortFunc(in, compareNames)
}

// sortVariants sorts by name and constraints. Most slices are sorted already, and to sort
// one would make the stack of a new goroutine grow.
func sortVariants(variants []wire.Variant) {
	if !slices.IsSortedFunc(variants, compareVariants) {
		slices.SortFunc(variants, compareVariants)
	}
}

// compareResources reports whether a resource of want is missing in held or has other
// content there, and whether held has names that want lacks.
func compareResources(want, held []*wire.Resource) (additions, removals bool) {
	differences(want, held, func(w, h *wire.Resource) bool {
		if w == nil {
			removals = true
		} else if h == nil || !same(w, h) {
			additions = true
		}
		return !additions || !removals
	})
	return additions, removals
}

func compareVariants(a, b wire.Variant) int {
	if c := strings.Compare(a.Resource.Name, b.Resource.Name); c != 0 {
		return c
	}
	return strings.Compare(a.Constraints, b.Constraints)
}

// findVariant returns the variant with the identity of v in a sorted slice.
func findVariant(in []wire.Variant, v wire.Variant) (wire.Variant, bool) {
	at, found := slices.BinarySearchFunc(in, v, compareVariants)
	if !found {
		return wire.Variant{}, false
	}
	return in[at], true
}

// hasVariantOf reports whether a sorted slice has a variant of a name.
func hasVariantOf(in []wire.Variant, name string) bool {
	at := searchVariant(in, name)
	return at < len(in) && in[at].Resource.Name == name
}

// searchVariant returns the index of the first variant that is not before a name.
func searchVariant(in []wire.Variant, name string) int {
	at, _ := slices.BinarySearchFunc(in, name, func(v wire.Variant, name string) int {
		return strings.Compare(v.Resource.Name, name)
	})
	return at
}

// variantsOf returns the variants of a name in a sorted slice.
func variantsOf(in []wire.Variant, name string) []wire.Variant {
	of, _ := cutName(in[searchVariant(in, name):], name)
	return of
}

// compareVariantSets is compareResources for variants. The removal of a variant is an
// addition if another variant of the name takes its place: both belong in one response
// (SPEC 9.5).
func compareVariantSets(want, held []wire.Variant) (additions, removals bool) {
	if identical(want, held) {
		return false, false
	}
	var none wire.Variant
	for w, h := range sorted.Join(want, held, compareVariants) {
		switch {
		case w == none && !hasVariantOf(want, h.Resource.Name):
			removals = true
		case w == none || h == none || !same(w.Resource, h.Resource):
			additions = true
		}
	}
	return additions, removals
}
