package content

import (
	"bytes"
	"reflect"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Differ reports whether two values have different content. It encodes both: a caller
// compares their pointers first.
func Differ(a, b any) bool {
	x, errX := conf.Marshal(a)
	y, errY := conf.Marshal(b)
	return errX != nil || errY != nil || !bytes.Equal(x, y) && !reflect.DeepEqual(withoutPositions(x), withoutPositions(y))
}

// withoutPositions returns the decoded JSON of a resource without the positions of its
// parts. A field of a document has no name with a capital letter.
func withoutPositions(data []byte) any {
	tree := decode(data)
	var remove func(any)
	remove = func(at any) {
		switch at := at.(type) {
		case map[string]any:
			for _, key := range []string{"Pos", "TargetPos", "DefaultPos"} {
				delete(at, key)
			}
			for _, part := range at {
				remove(part)
			}
		case []any:
			for _, part := range at {
				remove(part)
			}
		}
	}
	remove(tree)
	return tree
}
