package partition

import (
	"encoding/json"
	"slices"
	"strings"
)

// Kind is the kind of a [Requirement].
type Kind uint8

const (
	// Is: the client's value is Value.
	Is Kind = iota
	// Exists: the client has a value, and it is none of Not.
	Exists
	// IsNot: the client's value is none of Not. A client without the key also
	// matches.
	IsNot
	// Absent: the client does not have the key.
	Absent
)

// A Requirement is a condition on the value of one key.
type Requirement struct {
	Key   string
	Kind  Kind
	Value string   // Is only
	Not   []string // Exists and IsNot: excluded values, ascending; shared, must not be changed
}

// Matches reports whether the client meets the requirement.
func (r *Requirement) Matches(client map[string]string) bool {
	value, present := client[r.Key]
	switch r.Kind {
	case Is:
		return present && value == r.Value
	case Absent:
		return !present
	case Exists:
		if !present {
			return false
		}
	}
	return !present || !slices.Contains(r.Not, value)
}

// String returns k=v, k=* (any value), k!=v|w (none of these, or absent),
// k=*!=v|w (any other value) or !k (absent).
func (r *Requirement) String() string {
	key := quote(r.Key)
	switch r.Kind {
	case Is:
		return key + "=" + quote(r.Value)
	case Absent:
		return "!" + key
	case Exists:
		key += "=*"
	}
	for i, value := range r.Not {
		if i == 0 {
			key += "!=" + quote(value)
		} else {
			key += "|" + quote(value)
		}
	}
	return key
}

// A Selector is a list of requirements, one for each key that it names, by
// ascending key. It selects the clients that meet all of them; the empty one
// selects every client. Selectors are shared and must not be changed.
type Selector []Requirement

// Matches reports whether the selector selects the client. It does not allocate.
func (s Selector) Matches(client map[string]string) bool {
	for i := range s {
		if !s[i].Matches(client) {
			return false
		}
	}
	return true
}

// Predicate returns the selector as a predicate.
func (s Selector) Predicate() Predicate {
	p := Predicate{op: OpAnd}
	for _, r := range s {
		switch r.Kind {
		case Is:
			p.members = append(p.members, Equal(r.Key, r.Value))
		case Absent:
			p.members = append(p.members, Not(Present(r.Key)))
		case Exists:
			p.members = append(p.members, Present(r.Key))
		}
		for _, value := range r.Not {
			p.members = append(p.members, Not(Equal(r.Key, value)))
		}
	}
	return p
}

// String returns the requirements; "{}" selects every client.
func (s Selector) String() string {
	if len(s) == 0 {
		return "{}"
	}
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// MarshalJSON returns the selector in the form of SPEC 10:
//
//	{"tags": {k: v}, "notTags": {k: [v...]}, "absent": [k...]}
//
// In tags the value "*" means that the key is present. notTags alone also matches
// clients without the key; a key in both notTags and tags ("*") must be present.
// Empty parts are omitted. A selector for the literal value "*", which [Equal] can
// express and [Tags] cannot, has no unambiguous form here.
func (s Selector) MarshalJSON() ([]byte, error) {
	var form struct {
		Tags    map[string]string   `json:"tags,omitempty"`
		NotTags map[string][]string `json:"notTags,omitempty"`
		Absent  []string            `json:"absent,omitempty"`
	}
	tag := func(key, value string) {
		if form.Tags == nil {
			form.Tags = make(map[string]string)
		}
		form.Tags[key] = value
	}
	for _, r := range s {
		switch r.Kind {
		case Is:
			tag(r.Key, r.Value)
		case Absent:
			form.Absent = append(form.Absent, r.Key)
		case Exists:
			tag(r.Key, Any)
		}
		if len(r.Not) > 0 {
			if form.NotTags == nil {
				form.NotTags = make(map[string][]string)
			}
			form.NotTags[r.Key] = r.Not
		}
	}
	return json.Marshal(form)
}

// A Rule is a selector with the content of the clients that it selects.
type Rule[S comparable] struct {
	Selector Selector
	Content  S
}

// Rules are the rules of one inbound, in order. A client's rule is the first
// that selects it; in the disjoint form it is the only one.
type Rules[S comparable] []Rule[S]

// Match returns the client's rule, or nil if no item selects the client.
func (rs Rules[S]) Match(client map[string]string) *Rule[S] {
	for i := range rs {
		if rs[i].Selector.Matches(client) {
			return &rs[i]
		}
	}
	return nil
}
