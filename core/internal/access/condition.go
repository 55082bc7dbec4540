package access

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/regex"
	"github.com/meshmatch/meshmatch/core/internal/regex/automaton"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Condition is a set of requests in the terms of policies. It contains the requests of
// every clause.
type Condition struct {
	Any []Clause `json:"any"`
}

// Clause contains the requests that meet a match and none of the exceptions.
// Conditions on headers have the same meaning as in the entries from which they come
// (SPEC 7.2).
type Clause struct {
	Match  Match   `json:"match"`
	Except []Match `json:"except,omitempty"`
}

// Match contains the conditions of an entry, or of several entries together.
type Match struct {
	conf.Match
	Tags resource.Tags `json:"tags,omitzero"`
	// scopes are the scopes of the conditions on headers, in their order: an entry that
	// denies and one that allows compare equal conditions with different parts of a value.
	scopes []request.ValueScope
}

// ConditionOf returns the requests of a difference of two lists: the requests that both
// deciding entries match, except the requests that earlier entries match. Expressions that
// must match together become one expression. If it is too large, the error is a
// [*LimitError].
func ConditionOf(before, after *List, d *Difference) (Condition, error) {
	earlier, m, err := regionOf(before, d.Before.By, Match{})
	if err != nil {
		return Condition{}, err
	}
	more, m, err := regionOf(after, d.After.By, m)
	if err != nil {
		return Condition{}, err
	}
	c := Clause{Match: m}
	known := map[string]bool{}
	for _, e := range append(earlier, more...) {
		if mayOverlap(&m, &e) {
			c.except(e, known)
		}
	}
	c.reduce()
	return Condition{[]Clause{c}}, nil
}

// except adds an exception unless it is known.
func (c *Clause) except(m Match, known map[string]bool) {
	if key := fmt.Sprint(m.key(), m.Tags, m.scopes); !known[key] {
		known[key] = true
		c.Except = append(c.Except, m)
	}
}

// reduce removes exceptions that others cover. Of equal exceptions it keeps the
// first.
func (c *Clause) reduce() {
	all := c.Except
	c.Except = nil
	for i := range all {
		e := &all[i]
		covered := false
		for k := range all {
			covered = covered || k != i && covers(&all[k], e) && (k < i || !covers(e, &all[k]))
		}
		if !covered {
			c.Except = append(c.Except, *e)
		}
	}
}

// regionOf returns the entries of a list before the given one, and the joint conditions
// of that entry and a match. A nil place means the decision by default, after all
// entries.
func regionOf(l *List, by *permission.Place, m Match) (earlier []Match, both Match, err error) {
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.By == by {
			both, err = together(m, e.match())
			return earlier, both, err
		}
		earlier = append(earlier, e.match())
	}
	return earlier, m, nil
}

func (e *Entry) match() Match {
	m := Match{Tags: e.Tags}
	if e.Match != nil {
		m.Match = *e.Match
		m.scopes = slices.Repeat([]request.ValueScope{e.ValueScope}, len(m.Headers))
	}
	return m
}

func (m *Match) key() string { return m.Match.Key() }

// together returns the conjunction of two matches that some request meets.
func together(a, b Match) (Match, error) {
	m := a
	if b.SpiffeID != nil && (a.SpiffeID == nil || request.SpiffeIDCovers(a.SpiffeID, b.SpiffeID)) {
		m.SpiffeID = b.SpiffeID
	}
	if b.SNI != nil {
		m.SNI = b.SNI
	}
	if b.Method != nil {
		m.Method = b.Method
	}
	if b.Path != nil {
		var err error
		if m.Path, err = pathsTogether(a.Path, b.Path); err != nil {
			return Match{}, err
		}
	}
	m.Headers, m.scopes = slices.Clone(a.Headers), slices.Clone(a.scopes)
	for k, h := range b.Headers {
		i := slices.IndexFunc(m.Headers, func(other conf.HeaderMatch) bool { return headerCovers(&h, &other) && headerCovers(&other, &h) })
		if i >= 0 { // what holds in the narrower scope holds in both
			m.scopes[i] = min(m.scopes[i], b.scopes[k])
			continue
		}
		m.Headers, m.scopes = append(m.Headers, h), append(m.scopes, b.scopes[k])
	}
	tags := map[string]string{}
	for _, t := range a.Tags {
		tags[t.Key] = t.Value
	}
	for _, t := range b.Tags {
		if tags[t.Key] == "" || tags[t.Key] == resource.AnyValue {
			tags[t.Key] = t.Value
		}
	}
	m.Tags = resource.NewTags(tags)
	return m, nil
}

func pathsTogether(a, b *conf.PathMatch) (*conf.PathMatch, error) {
	switch {
	case a == nil || pathCovers(a, b):
		return b, nil
	case b == nil || pathCovers(b, a):
		return a, nil
	case a.Type == conf.PathExact:
		return a, nil // because some path meets both
	case b.Type == conf.PathExact:
		return b, nil
	}
	notA, errA := complement(a)
	notB, errB := complement(b)
	if err := cmp.Or(errA, errB); err != nil {
		return nil, &LimitError{What: err.Error()}
	}
	neither, err := automaton.New(notA, notB)
	if err != nil {
		return nil, &LimitError{What: err.Error()}
	}
	both, err := neither.Complement().Expression()
	if err != nil {
		return nil, &LimitError{What: err.Error()}
	}
	return &conf.PathMatch{Type: conf.PathRegex, Value: both}, nil
}

// complement returns an expression that is found in exactly the paths that do not match.
func complement(p *conf.PathMatch) (string, error) {
	expression := regexp.QuoteMeta(request.TrimSlash(p.Value)) + `(?:/.*)?`
	if p.Type == conf.PathRegex {
		expression = regex.MustParse(p.Value).String()
	}
	all, err := automaton.New(`^(?s:` + expression + `)$`)
	if err != nil {
		return "", err
	}
	return all.Complement().Expression()
}

// String returns the condition in short form: clauses joined by or.
func (c Condition) String() string {
	clauses := make([]string, len(c.Any))
	for i := range c.Any {
		clause := &c.Any[i]
		clauses[i] = clause.Match.String()
		var except []string
		for k := range clause.Except {
			except = append(except, clause.Except[k].String())
		}
		if len(except) > 0 {
			clauses[i] += " except " + strings.Join(except, ", ")
		}
	}
	return strings.Join(clauses, " or ")
}

// String returns the match in one line: the client, then the request. A prefix ends in
// /* or, if it is text, in *; an expression begins with ~.
func (m *Match) String() string {
	var parts []string
	if id := m.SpiffeID; id != nil {
		text := id.Value
		switch id.Type {
		case conf.SpiffeIDPrefix:
			text = request.TrimSlash(text) + "/*"
		case conf.SpiffeIDTextPrefix:
			text += "*"
		}
		parts = append(parts, text)
	}
	for _, t := range m.Tags {
		parts = append(parts, t.Key+"="+t.Value)
	}
	if m.SNI != nil {
		parts = append(parts, "sni "+string(*m.SNI))
	}
	if m.Method != nil {
		parts = append(parts, string(*m.Method))
	}
	if p := m.Path; p != nil {
		switch p.Type {
		case conf.PathPrefix:
			parts = append(parts, request.TrimSlash(p.Value)+"/*")
		case conf.PathRegex:
			parts = append(parts, "~"+p.Value)
		default:
			parts = append(parts, p.Value)
		}
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		switch name := strings.ToLower(string(h.Name)); h.How() {
		case conf.HeaderPresent:
			parts = append(parts, "with "+name)
		case conf.HeaderAbsent:
			parts = append(parts, "without "+name)
		case conf.HeaderPrefix:
			parts = append(parts, name+": "+*h.Value+"*")
		case conf.HeaderRegex:
			parts = append(parts, name+": ~"+*h.Value)
		default:
			parts = append(parts, name+": "+*h.Value)
		}
	}
	return cmp.Or(strings.Join(parts, " "), "every request")
}
