package automaton

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func simpleFold(r rune) rune { return unicode.SimpleFold(r) }

// term is an expression under construction. The zero term matches no text.
type term struct {
	text   string
	exists bool
	loose  bool // alternatives, which need a group next to other terms
	single bool // one character or class, which needs no group
}

// empty matches only the empty text.
var empty = term{exists: true}

func (t term) isEmpty() bool { return t.exists && t.text == "" && !t.loose }

func (t term) grouped() string {
	if t.loose {
		return `(?:` + t.text + `)`
	}
	return t.text
}

// or returns the term that matches the texts of either.
func (t term) or(u term) term {
	switch {
	case !t.exists || t == u:
		return u
	case !u.exists:
		return t
	case t.isEmpty():
		return u.repeated(`?`)
	case u.isEmpty():
		return t.repeated(`?`)
	}
	return term{text: t.text + `|` + u.text, exists: true, loose: true}
}

// then returns the concatenation of both.
func (t term) then(u term) term {
	switch {
	case !t.exists || !u.exists:
		return term{}
	case t.isEmpty():
		return u
	case u.isEmpty():
		return t
	}
	return term{text: t.grouped() + u.grouped(), exists: true}
}

// repeated appends a repetition operator to the whole term.
func (t term) repeated(operator string) term {
	if !t.exists || t.isEmpty() {
		return empty
	}
	if t.single {
		return term{text: t.text + operator, exists: true}
	}
	return term{text: `(?:` + t.text + `)` + operator, exists: true}
}

// Expression returns an expression that is found in exactly the texts of the automaton,
// by removing one state after the other. The error is [ErrTooLarge].
func (a *Automaton) Expression() (string, error) {
	edges, n := a.terms()
	begin, end := n, n+1
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		slices.SortStableFunc(left, func(x, y int) int { return weight(edges, x) - weight(edges, y) })
		if !remove(edges, left[0]) {
			return "", ErrTooLarge
		}
		left = left[1:]
	}
	t := edges[begin][end]
	if !t.exists {
		return nothing().String(), nil
	}
	return `^(?s:` + t.text + `)$`, nil
}

// terms returns the terms between states, by source and target, and the number n of the
// reachable states. The states are numbered from 0; n is the begin and n+1 the end of a text.
func (a *Automaton) terms() (edges []map[int]term, n int) {
	states := a.reachable()
	n = len(states)
	begin, end := n, n+1
	edges = make([]map[int]term, n+2)
	for i := range edges {
		edges[i] = map[int]term{}
	}
	index := map[int]int{}
	for i, s := range states {
		index[s] = i
	}
	for i, s := range states {
		ranges := map[int][]span{}
		for c, to := range a.next[s] {
			if j, ok := index[to]; ok {
				ranges[j] = append(ranges[j], a.classes[c])
			}
		}
		for j, list := range ranges {
			edges[i][j] = classOf(list)
		}
		if a.accepts[s] {
			edges[i][end] = empty
		}
	}
	if i, ok := index[a.start]; ok {
		edges[begin][i] = empty
	}
	return edges, n
}

// remove removes a state: the terms of the paths through it become terms between its
// neighbours. It returns false if one of them is too long.
func remove(edges []map[int]term, s int) bool {
	loop := edges[s][s].repeated(`*`)
	delete(edges[s], s)
	for from := range edges {
		in, ok := edges[from][s]
		if !ok {
			continue
		}
		delete(edges[from], s)
		for _, to := range slices.Sorted(maps.Keys(edges[s])) {
			t := edges[from][to].or(in.then(loop).then(edges[s][to]))
			if len(t.text) > maxBytes {
				return false
			}
			edges[from][to] = t
		}
	}
	edges[s] = map[int]term{}
	return true
}

// weight is the growth of all terms if a state is removed.
func weight(edges []map[int]term, s int) int {
	var in, out, before, after int
	for from := range edges {
		if t, ok := edges[from][s]; ok && from != s {
			in++
			before += len(t.text)
		}
	}
	for to, t := range edges[s] {
		if to != s {
			out++
			after += len(t.text)
		}
	}
	return before*(out-1) + after*(in-1) + len(edges[s][s].text)*(in*out-1)
}

// reachable returns the states that are reached and from which some text is accepted.
func (a *Automaton) reachable() []int {
	var order []int
	seen := map[int]bool{}
	for todo := []int{a.start}; len(todo) > 0; {
		s := todo[0]
		todo = todo[1:]
		if !seen[s] {
			seen[s] = true
			order = append(order, s)
			todo = append(todo, a.next[s]...)
		}
	}
	alive := map[int]bool{}
	for changed := true; changed; {
		changed = false
		for _, s := range order {
			if !alive[s] && (a.accepts[s] || slices.ContainsFunc(a.next[s], func(n int) bool { return alive[n] })) {
				alive[s], changed = true, true
			}
		}
	}
	return slices.DeleteFunc(order, func(s int) bool { return !alive[s] })
}

// classOf returns the expression of the runes in sorted ranges.
func classOf(list []span) term {
	joined := []span{list[0]}
	for _, s := range list[1:] {
		if last := &joined[len(joined)-1]; last.last+1 == s.first {
			last.last = s.last
		} else {
			joined = append(joined, s)
		}
	}
	open := `[`
	if joined[0].first == 0 && joined[len(joined)-1].last == utf8.MaxRune {
		if len(joined) == 1 {
			return term{text: `.`, exists: true, single: true}
		}
		open = `[^`
		var gaps []span
		for i := range joined[1:] {
			gaps = append(gaps, span{joined[i].last + 1, joined[i+1].first - 1})
		}
		joined = gaps
	}
	if len(joined) == 1 && joined[0].first == joined[0].last && open == `[` {
		return term{text: regexp.QuoteMeta(string(joined[0].first)), exists: true, single: true}
	}
	var b strings.Builder
	b.WriteString(open)
	for _, s := range joined {
		b.WriteString(runeInClass(s.first))
		if s.last > s.first {
			b.WriteString(`-` + runeInClass(s.last))
		}
	}
	return term{text: b.String() + `]`, exists: true, single: true}
}

func runeInClass(r rune) string {
	if r > ' ' && r < utf8.RuneSelf && !strings.ContainsRune(`\]^-[`, r) && unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf(`\x{%X}`, r)
}
