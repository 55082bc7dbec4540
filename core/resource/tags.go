package resource

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// The tags and labels that have a meaning of their own.
const (
	ServiceTag     = "kuma.io/service"
	ProtocolTag    = "kuma.io/protocol"
	ZoneTag        = "kuma.io/zone"
	MeshLabel      = "kuma.io/mesh"
	NamespaceLabel = "k8s.kuma.io/namespace"
	EffectLabel    = "kuma.io/effect"
	// AnyValue in a selector's tag means that the key is present.
	AnyValue = "*"
)

// Tag is a key with a value. In a selector the value may be [AnyValue].
type Tag struct {
	Key   string
	Value string
}

// Tags is a set of tags, sorted by key, each key once.
type Tags []Tag

// NewTags returns the tags of m.
func NewTags(m map[string]string) Tags {
	if len(m) == 0 {
		return nil
	}
	tags := make(Tags, 0, len(m))
	for k, v := range m {
		tags = append(tags, Tag{k, v})
	}
	slices.SortFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return tags
}

// Get returns the value of a key, and whether it is present.
func (t Tags) Get(key string) (string, bool) {
	for i := range t {
		if t[i].Key == key {
			return t[i].Value, true
		}
	}
	return "", false
}

// Value returns the value of a key, or "" where it is absent.
func (t Tags) Value(key string) string {
	v, _ := t.Get(key)
	return v
}

// Contains reports whether t has every tag of the selector, [AnyValue]
// asking for the key only.
func (t Tags) Contains(selector Tags) bool {
	for _, want := range selector {
		value, present := t.Get(want.Key)
		if !present || want.Value != AnyValue && value != want.Value {
			return false
		}
	}
	return true
}

// MarshalJSON prints an object with sorted keys.
func (t Tags) MarshalJSON() ([]byte, error) {
	m := make(map[string]string, len(t))
	for _, tag := range t {
		m[tag.Key] = tag.Value
	}
	return json.Marshal(m)
}

// String returns k=v pairs separated by spaces.
func (t Tags) String() string {
	pairs := make([]string, len(t))
	for i, tag := range t {
		pairs[i] = tag.Key + "=" + tag.Value
	}
	return strings.Join(pairs, " ")
}
