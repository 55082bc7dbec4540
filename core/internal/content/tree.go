package content

import (
	"encoding/json"
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Encode returns the JSON of a value that was decoded, or made of such values.
func Encode(value any) []byte {
	data, err := conf.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a value that was decoded cannot be encoded: %v", err))
	}
	return data
}

// Tree returns the JSON of a value as [Encode] does, decoded.
func Tree(value any) any { return decode(Encode(value)) }

func decode(data []byte) (tree any) {
	if err := json.Unmarshal(data, &tree); err != nil {
		panic(fmt.Sprintf("JSON that was encoded cannot be decoded: %v", err))
	}
	return tree
}
