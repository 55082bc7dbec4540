package access

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex/language"
)

// split divides the requests by a variable that is compared with values, with a part for
// each set of texts that meet the same conditions. Items that require one value are
// looked up by it; the other items are compared with a text of the part.
func (s *search) split(v int, lists [][]item) error {
	d := newDivision(s.variables[v], v, lists)
	before := s.states[v]
	defer func() { s.states[v] = before }()
	known := map[string]bool{}
	var trie *language.Trie
	if d.expressions {
		trie = language.NewTrie(d.values)
		s.tries++
	}
	division := s.tries
	for _, part := range d.parts(s.space) {
		rest := make([][]item, len(lists))
		var key []byte
		for i := range lists {
			places := d.lists[i].places(part)
			if err := s.spend(len(places) + 1); err != nil {
				return err
			}
			for _, k := range places {
				it, ok := s.atPart(lists[i][k], v, part)
				if !ok {
					continue
				}
				rest[i] = append(rest[i], it)
				if !d.lists[i].free[k] {
					key = binary.AppendUvarint(key, uint64(k)+1)
				}
				if it.left == 0 && !s.keepShadowed {
					break
				}
			}
			key = append(key, 0)
		}
		if !d.expressions { // equal parts are one part
			if known[string(key)] {
				continue
			}
			known[string(key)] = true
		}
		s.states[v] = part
		if part.kind == like && d.expressions {
			s.states[v].trie, s.states[v].division = trie, division
			if _, some, err := s.text(v); err != nil || !some {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := s.divide(rest); err != nil {
			return err
		}
	}
	return nil
}

// atPart returns an item for the requests of a part. Expressions remain, unless the part
// has only one text.
func (s *search) atPart(it item, v int, part state) (item, bool) {
	if part.kind != like {
		return s.restrict(it, v, part.text, part.kind == absent)
	}
	for values := it.left & it.values; values != 0; values &= values - 1 {
		k := bits.TrailingZeros64(values)
		if t := &it.tests[k]; t.variable == v {
			if !t.holds(part.text, false) {
				return item{}, false
			}
			it.left &^= 1 << k
		}
	}
	return it, true
}

// division contains the conditions of lists on one variable.
type division struct {
	variable
	values      []language.TextCondition // sorted, each once
	expressions bool                     // some item compares the variable with an expression
	lists       []lookup
}

// lookup finds the items of a list by the values that they require.
type lookup struct {
	free []bool // items that do not compare the variable with a value
	// always contains the places of the items that must be compared with each
	// text.
	always []int
	// exact, below and begins contain the places of the items with a single condition
	// of this type, by its value.
	exact, below, begins map[string][]int
	longest              int // length of the longest key of below and begins
}

func newDivision(at variable, v int, lists [][]item) *division {
	d := &division{variable: at, lists: make([]lookup, len(lists))}
	for i, list := range lists {
		l := lookup{free: make([]bool, len(list)), exact: map[string][]int{}, below: map[string][]int{}, begins: map[string][]int{}}
		for k := range list {
			d.add(&l, list[k], k, v)
		}
		d.lists[i] = l
	}
	slices.SortFunc(d.values, func(a, b language.TextCondition) int {
		return cmp.Or(strings.Compare(a.Value, b.Value), cmp.Compare(a.How, b.How))
	})
	d.values = slices.Compact(d.values)
	return d
}

func (d *division) add(l *lookup, it item, k, v int) {
	var only *test
	count := 0
	for left := it.left; left != 0; left &= left - 1 {
		t := &it.tests[bits.TrailingZeros64(left)]
		switch {
		case t.variable != v:
			continue
		case t.how == matches:
			d.expressions = true
			continue
		}
		only = t
		count++
		if t.how != present {
			d.values = append(d.values, language.TextCondition{How: language.How(t.how), Value: t.value})
		}
	}
	l.free[k] = count == 0
	switch {
	case count == 1 && !only.negated && only.how == exactly:
		l.exact[only.value] = append(l.exact[only.value], k)
	case count == 1 && !only.negated && only.how == below:
		l.below[only.value] = append(l.below[only.value], k)
		l.longest = max(l.longest, len(only.value))
	case count == 1 && !only.negated && only.how == startsWith:
		l.begins[only.value] = append(l.begins[only.value], k)
		l.longest = max(l.longest, len(only.value))
	default:
		l.always = append(l.always, k)
	}
}

// places returns the places of the items that may match requests of a part, in order.
func (l *lookup) places(part state) []int {
	if part.kind == absent {
		return l.always
	}
	places := slices.Clone(l.always)
	places = append(places, l.exact[part.text]...)
	if len(l.below)+len(l.begins) > 0 {
		for n := 0; n <= min(len(part.text), l.longest); n++ {
			if n == len(part.text) || part.text[n] == '/' {
				places = append(places, l.below[part.text[:n]]...)
			}
			places = append(places, l.begins[part.text[:n]]...)
		}
	}
	if len(places) > len(l.always) {
		slices.Sort(places)
	}
	return places
}

// parts returns a part for each set of conditions that texts meet; some parts occur more
// than once. There is a part for each value, for the texts that begin with it, for an
// absent variable, and for all other texts.
func (d *division) parts(space *Space) []state {
	var parts []state
	values := make([]string, len(d.values))
	for i, c := range d.values {
		values[i] = c.Value
	}
	add := func(kind stateKind, text string) {
		if d.part != spiffeID || inTrustDomains(text, space.TrustDomains) {
			parts = append(parts, state{kind: kind, text: text})
		}
	}
	for i, c := range d.values {
		switch {
		case c.How == language.Exactly:
			if i == 0 || values[i-1] != c.Value {
				add(one, c.Value)
			}
		case c.How == language.Below:
			add(like, another(c.Value+"/", values))
			if d.part == spiffeID && isID(c.Value) && slices.Contains(d.values, language.TextCondition{How: language.StartsWith, Value: c.Value + "/"}) {
				add(one, c.Value) // it does not begin with the value and a slash
			}
		default:
			add(like, another(c.Value, values))
		}
	}
	if d.mayBeAbsent() {
		parts = append(parts, state{kind: absent})
	}
	for _, text := range d.others(space, values) {
		add(like, text)
	}
	return parts
}

// others returns texts that meet no condition, if there are any.
func (d *division) others(space *Space, values []string) []string {
	switch {
	case d.part == spiffeID && len(space.TrustDomains) > 0:
		var out []string
		for _, domain := range space.TrustDomains {
			out = append(out, another("spiffe://"+domain+"/", values))
		}
		return out
	case d.part == spiffeID:
		return []string{another("spiffe://", values) + ".example/other"}
	case d.part == path:
		return []string{another("/", values)}
	case d.part == method:
		for _, name := range methods {
			if !slices.Contains(values, name) {
				return []string{name}
			}
		}
		return []string{"OTHER"}
	}
	return []string{another("", values)}
}

var methods = []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"}

// isID reports whether the value of a condition on IDs is one, and not a trust domain.
func isID(value string) bool { return strings.Count(value, "/") > 2 }

func inTrustDomains(id string, domains []string) bool {
	return len(domains) == 0 || slices.ContainsFunc(domains, func(domain string) bool {
		return language.TextCondition{How: language.Below, Value: "spiffe://" + domain}.Holds(id)
	})
}
