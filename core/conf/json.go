package conf

import (
	"bytes"
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// JSON is any value, as compact JSON with sorted keys.
//
//confgen:openapi {"x-kubernetes-preserve-unknown-fields": true}
type JSON string

// DecodeAt accepts any value that JSON can express.
func (v *JSON) DecodeAt(in *strict.Value) {
	var tree any
	strict.Decode(in, &tree)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(tree) // plain values have a JSON form
	*v = JSON(bytes.TrimSpace(b.Bytes()))
}

// MarshalJSON returns the value. A value that was not decoded and is not JSON becomes a
// string.
func (v JSON) MarshalJSON() ([]byte, error) { return literal(string(v)) }
