package variant

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

// A MetadataKey maps a field of a node's metadata to a dynamic parameter, for clients
// that send no parameters (SPEC 9.6).
type MetadataKey struct {
	Key  string   // of the parameter
	Path []string // field names, from the metadata down
}

// ParseMetadataKey parses KEY=FIELD.FIELD. In the path, \. is a dot in a field's name. A
// key alone is the field with its name.
func ParseMetadataKey(text string) (MetadataKey, error) {
	key, path, given := strings.Cut(text, "=")
	if key == "" {
		return MetadataKey{}, fmt.Errorf("%q has no key; write KEY=METADATA.PATH", text)
	}
	if !given {
		return MetadataKey{key, []string{key}}, nil
	}
	k := MetadataKey{Key: key}
	var field strings.Builder
	end := func() bool {
		k.Path = append(k.Path, field.String())
		field.Reset()
		return k.Path[len(k.Path)-1] != ""
	}
	complete := true
	for i := 0; i < len(path); i++ {
		switch {
		case path[i] == '\\' && i+1 < len(path):
			i++
			field.WriteByte(path[i])
		case path[i] == '.':
			complete = end() && complete
		default:
			field.WriteByte(path[i])
		}
	}
	if !end() || !complete {
		return MetadataKey{}, fmt.Errorf("%q has an empty field name; write KEY=METADATA.PATH", text)
	}
	return k, nil
}

// FromMetadata returns the parameters for the keys from a node's metadata. Strings
// are unchanged; numbers and booleans have their JSON form. If a path leads to no
// value, or to null, a list or an object, the parameter is absent.
func FromMetadata(metadata *structpb.Struct, keys []MetadataKey) Parameters {
	p := make(Parameters, len(keys))
	for _, k := range keys {
		var value *structpb.Value
		within := metadata
		for _, field := range k.Path {
			value = within.GetFields()[field]
			within = value.GetStructValue()
		}
		switch v := value.GetKind().(type) {
		case *structpb.Value_StringValue:
			p[k.Key] = v.StringValue
		case *structpb.Value_BoolValue:
			p[k.Key] = strconv.FormatBool(v.BoolValue)
		case *structpb.Value_NumberValue:
			p[k.Key] = strconv.FormatFloat(v.NumberValue, 'f', -1, 64)
		}
	}
	return p
}
