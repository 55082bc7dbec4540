package specs

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// AnyValue in a selector's tag means that the key is present.
const AnyValue = "*"

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

// SetEntries sets the tags to the entries of a mapping in a file.
func (t *Tags) SetEntries(entries []strict.Entry) {
	if *t = nil; len(entries) > 0 {
		*t = make(Tags, len(entries))
	}
	for i, entry := range entries {
		(*t)[i] = Tag{entry.Name, entry.Value}
	}
}

// With returns the tags with one more, in place of that with the same key. It does not change
// t.
func (t Tags) With(key, value string) Tags {
	i, there := slices.BinarySearchFunc(t, key, func(tag Tag, key string) int { return cmp.Compare(tag.Key, key) })
	with := make(Tags, 0, len(t)+1)
	with = append(append(with, t[:i]...), Tag{key, value})
	if there {
		i++
	}
	return append(with, t[i:]...)
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

// Value returns the value of a key, or "" if it is absent.
func (t Tags) Value(key string) string {
	v, _ := t.Get(key)
	return v
}

// Contains reports whether t has every tag of the selector. [AnyValue] requires
// only the key.
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
	if t == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(t.Map())
}

// Map is the inverse of [NewTags]. It returns nil for nil.
func (t Tags) Map() map[string]string {
	if t == nil {
		return nil
	}
	m := make(map[string]string, len(t))
	for _, tag := range t {
		m[tag.Key] = tag.Value
	}
	return m
}

// String returns k=v pairs separated by spaces.
func (t Tags) String() string {
	pairs := make([]string, len(t))
	for i, tag := range t {
		pairs[i] = tag.Key + "=" + tag.Value
	}
	return strings.Join(pairs, " ")
}

// ValidateTags checks the tags of an inbound, outbound or gateway.
func ValidateTags(at *diag.At, tags Tags) { validateSorted(at, tags, conf.ValidateTag) }

// ValidateListenerTags checks the tags of a listener of a MeshGateway, or of the targetRef
// that selects it.
func ValidateListenerTags(at *diag.At, tags Tags) {
	validateSorted(at, tags, conf.ValidateListenerTag)
}

// validateSorted checks that tags are sorted by key, and each of them.
func validateSorted(at *diag.At, tags Tags, validate func(at *diag.At, key, value string)) {
	for i, tag := range tags {
		if i > 0 && tags[i-1].Key >= tag.Key {
			at.Errorf(diag.DuplicateEntry, "make them with resource.NewTags", "are not sorted by key, or have %q twice", tag.Key)
		}
		validate(at, tag.Key, tag.Value)
	}
}

// ValidateSelector checks the tags of a selector, whose values may be *.
func ValidateSelector(at *diag.At, tags Tags) {
	for _, tag := range tags {
		conf.ValidateSelectorTag(at, tag.Key, tag.Value)
	}
}
