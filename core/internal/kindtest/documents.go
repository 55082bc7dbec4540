package kindtest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Documents returns the documents of a YAML stream as trees that encoding/json can marshal.
func Documents(t *testing.T, data []byte) (trees []any) {
	t.Helper()
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var tree any
		switch err := decoder.Decode(&tree); {
		case errors.Is(err, io.EOF):
			return trees
		case err != nil:
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
}
