package words

import (
	"strconv"
	"strings"
)

// WithoutIndexes returns a JSON pointer with "#" instead of the indexes of elements.
func WithoutIndexes(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		if _, err := strconv.Atoi(token); err == nil {
			tokens[i] = "#"
		}
	}
	return strings.Join(tokens, "/")
}
