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
	const mapField, keyField, valueField = 1, 1, 2
	type pair struct {
		head  uint64 // the key's first bytes behind what all keys begin with
		key   string
		value []byte // with its tag and length
	}
	pairs := make([]pair, 0, len(m))
	values := map[*xdsmatcher.Matcher_OnMatch][]byte{}
	size := 0
	for key, on := range m {
		value, ok := values[on]
		if !ok {
			value = appendField(nil, valueField, marshalledAction(on.GetAction()))
			values[on] = value
		}
		pairs = append(pairs, pair{key: key, value: value})
		size += len(key) + len(value) + 12 // at most, for the tags and lengths
	}
	// Identities of a mesh begin alike, so whole keys are compared only where
	// what follows is equal too.
	if len(pairs) > 0 {
		shared := pairs[0].key
		for i := range pairs {
			shared = shared[:sharedPrefix(shared, pairs[i].key)]
		}
		for i := range pairs {
			var head [8]byte
			copy(head[:], pairs[i].key[len(shared):])
			pairs[i].head = binary.BigEndian.Uint64(head[:])
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(a.key, b.key)
	})
	out := make([]byte, 0, size)
	for _, p := range pairs {
		out = protowire.AppendTag(out, mapField, protowire.BytesType)
		out = protowire.AppendVarint(out, uint64(protowire.SizeTag(keyField)+protowire.SizeBytes(len(p.key))+len(p.value)))
		out = protowire.AppendTag(out, keyField, protowire.BytesType)
		out = protowire.AppendString(out, p.key)
		out = append(out, p.value...)
	}
	marshalled := &xdsmatcher.Matcher_MatcherTree_MatchMap{}
	marshalled.ProtoReflect().SetUnknown(out)
	return marshalled
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

// marshalledAction returns a Matcher.OnMatch that is an action.
func marshalledAction(action *xdscore.TypedExtensionConfig) []byte {
	const typeURLField, valueField, nameField, configField, actionField = 1, 2, 1, 2, 2
	config := action.GetTypedConfig()
	size := len(config.GetTypeUrl()) + len(config.GetValue()) + len(action.GetName()) + 20 // at most, for the tags and lengths
	b := make([]byte, 0, 3*size)
	b = appendField(b, typeURLField, []byte(config.GetTypeUrl()))
	b = appendField(b, valueField, config.GetValue())
	any := len(b)
	b = appendField(b, nameField, []byte(action.GetName()))
	b = appendField(b, configField, b[:any])
	extension := len(b)
	b = appendField(b, actionField, b[any:extension])
	return b[extension:]
}

func appendField(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}
