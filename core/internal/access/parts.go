package access

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex/language"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// Parts is a set of parts of a request.
type Parts struct {
	SpiffeID, Tags, SNI, Method, Path bool
	Headers                           []string // names in lower case, sorted
}

// Parts returns the parts of a request that the entries of the list compare. The
// authority is the header host.
func (l *List) Parts() Parts {
	var p Parts
	for i := range l.Entries {
		e := &l.Entries[i]
		p.Tags = p.Tags || len(e.Tags) > 0
		m := e.Match
		if m == nil {
			continue
		}
		p.SpiffeID = p.SpiffeID || m.SpiffeID != nil
		p.SNI = p.SNI || m.SNI != nil
		p.Method = p.Method || m.Method != nil
		p.Path = p.Path || m.Path != nil
		for k := range m.Headers {
			p.Headers = append(p.Headers, strings.ToLower(string(m.Headers[k].Name)))
		}
	}
	slices.Sort(p.Headers)
	p.Headers = slices.Compact(p.Headers)
	return p
}

// Empty reports whether the set has no part.
func (p *Parts) Empty() bool {
	return !p.SpiffeID && !p.Tags && !p.SNI && !p.Method && !p.Path && len(p.Headers) == 0
}

// has reports whether a variable is among the parts.
func (p *Parts) has(v variable) bool {
	switch v.part {
	case spiffeID:
		return p.SpiffeID
	case tag:
		return p.Tags
	case sni:
		return p.SNI
	case method:
		return p.Method
	case path:
		return p.Path
	}
	return slices.Contains(p.Headers, v.name)
}

// partial is a request with unknown parts.
type partial struct {
	seen    request.Seen
	unknown Parts
	queries bool // paths are compared with their queries
}

// state returns the known state of a variable; ok is false if it is unknown.
func (p *partial) state(v variable) (_ state, ok bool) {
	if p.unknown.has(v) || v.part == unknown {
		return state{}, false
	}
	text, present := "", false
	switch v.part {
	case spiffeID:
		text, present = p.seen.SpiffeID, p.seen.SpiffeID != ""
	case tag:
		text, present = p.seen.Tags.Get(v.name)
	case sni:
		text, present = lowerASCII(p.seen.SNI), p.seen.SNI != ""
	case method:
		text, present = p.seen.Method, p.seen.Method != ""
	case path:
		text, present = p.seen.NormalPath, p.seen.NormalPath != ""
		if _, query, some := strings.Cut(p.seen.Path, "?"); some && present && p.queries {
			text += "?" + query
		}
	case header:
		text, present = p.seen.Headers.Get(v.name)
	}
	if !present {
		return state{kind: absent}, true
	}
	return state{kind: one, text: text}, true
}

// longest returns the length of the longest text that may be compared with an expression.
func (p *partial) longest() int {
	longest := len(p.seen.NormalPath)
	for i := range p.seen.Headers {
		longest = max(longest, len(p.seen.Headers[i].Value))
	}
	return longest
}

func lowerASCII(text string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, text)
}

// A Decider decides requests with unknown parts. Only one goroutine may use it at a
// time.
type Decider struct {
	space   *Space
	list    *List
	path    bool     // an entry compares paths
	problem *problem // nil until it is compiled
	// answers are keyed by the rest of the list, given the known parts: the entries
	// that can still match, with their undecided conditions.
	answers map[string][]Decision
}

// Bounds of the memory of a [Decider], and of the longest text that its automata read. A
// state of an automaton takes at most a few kilobytes.
const (
	maxStates  = 1 << 13
	maxAnswers = 1 << 12
	maxText    = 1 << 13
)

// NewDecider returns a decider for a list and the requests of a space.
func NewDecider(space *Space, list *List) *Decider {
	return &Decider{space: space, list: list, path: list.Parts().Path}
}

// Decide returns the possible decisions about a request with unknown parts: the
// decisions for all values that these parts can have in the space, in the order of the
// entries. The decision by default comes last. The caller must not change the slice. The
// known parts need not be in the space. The error is a [*LimitError].
func (d *Decider) Decide(r *request.Request, unknown Parts, limits Limits) ([]Decision, error) {
	p := &partial{seen: request.NewSeen(r), unknown: unknown}
	if d.path && !unknown.Path && p.seen.PathRefused {
		return []Decision{{}}, nil
	}
	if p.longest() > maxText {
		return nil, &LimitError{What: fmt.Sprintf("a path or header is longer than %d bytes", maxText)}
	}
	if err := d.compile(); err != nil {
		return nil, err
	}
	at, space := *d.problem, *d.space
	space.partial, at.space = p, &space
	s := newSearch(&at, limits)
	lists, err := s.know(s.items())
	if err != nil {
		return nil, err
	}
	key := restKey(lists[0])
	if answer, known := d.answers[key]; known {
		return answer, nil
	}
	var answer []Decision
	s.regions(func(d Decision) error {
		answer = append(answer, d)
		return nil
	})
	if err := s.divide(lists); err != nil {
		return nil, err
	}
	sortBy(answer, func(by *Decision) [2]int { return [2]int{placeIn(d.list, by.By), 0} })
	if len(d.answers) == maxAnswers {
		clear(d.answers)
	}
	d.answers[key] = answer
	return answer, nil
}

// restKey returns different texts for lists with different items or undecided tests. The
// tests determine which parts are unknown.
func restKey(list []item) string {
	var key []byte
	for i := range list {
		key = binary.AppendUvarint(key, uint64(list[i].number))
		key = binary.AppendUvarint(key, list[i].left)
	}
	return string(key)
}

// compile compiles the list, unless it is already compiled and its automata are
// small.
func (d *Decider) compile() error {
	if d.problem != nil {
		states := 0
		for _, l := range d.problem.expressions {
			states += language.States(l)
		}
		if states <= maxStates {
			return d.problem.err
		}
	}
	d.problem, d.answers = compile(d.space, d.list).compiled(), map[string][]Decision{}
	return d.problem.err
}
