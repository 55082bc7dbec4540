package inspect

import (
	"slices"
	"strconv"
	"strings"
)

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// Lookup follows a JSON pointer (RFC 6901) through a decoded JSON value. It
// returns nil if there is no value at the pointer.
func Lookup(tree any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch node := tree.(type) {
		case map[string]any:
			tree = node[pointerEscapes.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			tree = node[i]
		default:
			return nil
		}
	}
	return tree
}

// ComparePointers orders JSON pointers. It compares indexes of lists as
// numbers.
func ComparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		m, errA := strconv.Atoi(a)
		n, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return m - n
		}
		return strings.Compare(a, b)
	})
}
