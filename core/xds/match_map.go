package xds

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	xdscore "github.com/cncf/xds/go/xds/core/v3"
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A filter names thousands of identities in maps, whose values are a few
// actions. The protobuf library sorts such a map by reflection and marshals
// each value again, which is most of the time that a filter takes. So it is
// given copies of the messages around the maps in which the maps are marshalled
// already, as unknown fields; the bytes are the same.

// marshalled returns a message to marshal in the place of config, of which
// matchers are fields.
func marshalled(config proto.Message) proto.Message {
	source := config.ProtoReflect()
	out := source.New()
	source.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap() {
			if m, ok := value.Message().Interface().(*xdsmatcher.Matcher); ok {
				value = protoreflect.ValueOfMessage(marshalledMatcher(m).ProtoReflect())
			}
		}
		out.Set(field, value)
		return true
	})
	out.SetUnknown(source.GetUnknown())
	return out.Interface()
}

// marshalledMatcher follows the matchers from stage to stage (func chain).
func marshalledMatcher(m *xdsmatcher.Matcher) *xdsmatcher.Matcher {
	out := &xdsmatcher.Matcher{MatcherType: m.GetMatcherType(), OnNoMatch: m.GetOnNoMatch()}
	if next := m.GetOnNoMatch().GetMatcher(); next != nil {
		out.OnNoMatch = &xdsmatcher.Matcher_OnMatch{
			OnMatch:      &xdsmatcher.Matcher_OnMatch_Matcher{Matcher: marshalledMatcher(next)},
			KeepMatching: m.GetOnNoMatch().GetKeepMatching(),
		}
	}
	if tree := m.GetMatcherTree(); tree.GetExactMatchMap() != nil {
		out.MatcherType = &xdsmatcher.Matcher_MatcherTree_{MatcherTree: &xdsmatcher.Matcher_MatcherTree{
			Input:    tree.GetInput(),
			TreeType: &xdsmatcher.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: marshalledMap(tree.GetExactMatchMap().GetMap())},
		}}
	}
	return out
}

// marshalledMap marshals the entries, whose values are actions.
func marshalledMap(m map[string]*xdsmatcher.Matcher_OnMatch) *xdsmatcher.Matcher_MatcherTree_MatchMap {
	const mapField, keyField = 1, 1
	keys, values := make([]string, 0, len(m)), make([][]byte, 0, len(m))
	known := map[*xdsmatcher.Matcher_OnMatch][]byte{}
	size := 0
	for key, on := range m {
		value, ok := known[on]
		if !ok {
			value = mapValue(on.GetAction())
			known[on] = value
		}
		keys, values = append(keys, key), append(values, value)
		size += fieldSize(fieldSize(len(key)) + len(value))
	}
	out := make([]byte, 0, size)
	for _, at := range sortedOrder(keys) {
		key, value := keys[at.index], values[at.index]
		out = appendHead(out, mapField, fieldSize(len(key))+len(value))
		out = append(appendHead(out, keyField, len(key)), key...)
		out = append(out, value...)
	}
	marshalled := &xdsmatcher.Matcher_MatcherTree_MatchMap{}
	marshalled.ProtoReflect().SetUnknown(out)
	return marshalled
}

// mapValue returns the value field of a map's entry, a Matcher.OnMatch that is
// an action.
func mapValue(action *xdscore.TypedExtensionConfig) []byte {
	const valueField, actionField, nameField, configField, typeURLField, contentField = 2, 2, 1, 2, 1, 2
	name, typeURL, content := action.GetName(), action.GetTypedConfig().GetTypeUrl(), action.GetTypedConfig().GetValue()
	config := fieldSize(len(typeURL)) + fieldSize(len(content))
	extension := fieldSize(len(name)) + fieldSize(config)
	b := make([]byte, 0, fieldSize(fieldSize(extension)))
	b = appendHead(b, valueField, fieldSize(extension))
	b = appendHead(b, actionField, extension)
	b = append(appendHead(b, nameField, len(name)), name...)
	b = appendHead(b, configField, config)
	b = append(appendHead(b, typeURLField, len(typeURL)), typeURL...)
	return append(appendHead(b, contentField, len(content)), content...)
}

// fieldSize returns how long a field of the first fifteen is whose content,
// text or a message, has that length.
func fieldSize(content int) int { return 1 + protowire.SizeBytes(content) }

// appendHead appends what stands before a field's content.
func appendHead(b []byte, field protowire.Number, content int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(content))
}

// place is where a key stands before sorting. It has no pointers, which the
// garbage collector would follow at each exchange.
type place struct {
	head  uint64 // the key's first bytes behind what all keys begin with
	index int32
}

// sortedOrder returns the keys' places in the keys' order. Identities of a mesh
// begin alike, so whole keys are compared only where what follows is equal too.
func sortedOrder(keys []string) []place {
	places := make([]place, len(keys))
	shared := keys[0]
	for _, key := range keys {
		shared = shared[:sharedPrefix(shared, key)]
	}
	for i, key := range keys {
		var head [8]byte
		copy(head[:], key[len(shared):])
		places[i] = place{binary.BigEndian.Uint64(head[:]), int32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(keys[a.index], keys[b.index])
	})
	return places
}

// sharedPrefix returns how many bytes a and b begin with in common.
func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
