package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// When is the condition of the requests that a chain allows: the requests of any clause.
type When struct {
	Any []Clause `json:"any"`
}

// Clause contains the requests that meet a match and none of the exceptions.
type Clause struct {
	Match  Match   `json:"match"`
	Except []Match `json:"except,omitempty"`
}

// Match has the conditions that a request must meet.
type Match struct {
	SpiffeID *Text             `json:"spiffeId,omitempty"`
	SNI      *Text             `json:"sni,omitempty"`
	Method   *Text             `json:"method,omitempty"`
	Path     *Text             `json:"path,omitempty"`
	Headers  []Header          `json:"headers,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
}

// Text is a condition on a text.
type Text struct {
	Type  string `json:"type"`
	Value string `json:"value,omitempty"`
}

// Header is a condition on a header. The path with its query is :path.
type Header struct {
	Name string `json:"name"`
	Text
}

// String returns the condition in short form: clauses joined by or.
func (w *When) String() string {
	clauses := lists.MapPointers(w.Any, func(c *Clause) string {
		text := c.Match.String()
		if len(c.Except) > 0 {
			text += " except " + strings.Join(lists.MapPointers(c.Except, (*Match).String), ", ")
		}
		return text
	})
	return cmp.Or(strings.Join(clauses, " or "), "never")
}

// String returns the match in one line. A prefix of a text ends in *, and an expression begins
// with ~.
func (m *Match) String() string {
	var parts []string
	add := func(before string, t *Text) {
		if t != nil {
			parts = append(parts, before+t.String())
		}
	}
	add("", m.SpiffeID)
	for _, key := range slices.Sorted(maps.Keys(m.Tags)) {
		parts = append(parts, key+"="+m.Tags[key])
	}
	add("sni ", m.SNI)
	add("", m.Method)
	add("", m.Path)
	for i := range m.Headers {
		if h := &m.Headers[i]; h.Type == rbac.Present {
			parts = append(parts, "with "+h.Name)
		} else {
			add(h.Name+": ", &h.Text)
		}
	}
	return cmp.Or(strings.Join(parts, " "), "every request")
}

func (t *Text) String() string {
	switch t.Type {
	case rbac.StringPrefix:
		return t.Value + "*"
	case rbac.Suffix:
		return "*" + t.Value
	case rbac.Contains:
		return "*" + t.Value + "*"
	case rbac.RegularExpression:
		return "~" + t.Value
	case rbac.Present:
		return "any"
	}
	return t.Value
}

// maxClauses is the maximum number of clauses of a condition. A longer one is left out.
const maxClauses = 32

// clause is a clause of conditions as filters write them.
type clause struct {
	match  []rbac.Comparison
	except [][]rbac.Comparison
}

// bound is which requests a condition has if some conditions are unknown.
type bound bool

const (
	atLeast bound = false // the requests that it has regardless of unknown conditions
	atMost  bound = true  // those that some unknown condition allows
)

// whenOf returns the condition by which a chain allows a client. Exact ones of the clients named are
// not about others. Ok is false if there is no such condition of at most maxClauses clauses: a part
// of a request must meet two conditions that are not one, or it is not written in such parts.
func whenOf(c *aloneChain, id string, named []string, b bound) (*When, bool) {
	all := []clause{{}}
	for _, l := range c.filters.Chain {
		allowed, ok := b.allowed(l)
		if !ok {
			return nil, false
		}
		if all = product(all, allowed); len(all) > maxClauses {
			return nil, false
		}
	}
	w := &When{Any: []Clause{}}
	var known []clause
	for _, one := range all {
		one, some := one.forClient(c.space.Plain, id, named)
		if some && len(one.match)+len(one.except) == 0 {
			return &When{Any: []Clause{{}}}, true
		}
		if some && !slices.ContainsFunc(known, one.equals) {
			known = append(known, one)
			out, ok := one.published()
			if !ok {
				return nil, false
			}
			w.Any = append(w.Any, out)
		}
	}
	return w, true
}

// allowed returns the clauses of the requests that a list allows.
func (b bound) allowed(l *access.List) (out []clause, ok bool) {
	rest := []clause{{}} // that no earlier entry denies
	for i := range l.Entries {
		e := &l.Entries[i]
		w := e.When.Written()
		if e.Match != nil || len(e.Tags) > 0 || w == nil {
			return nil, false
		}
		clauses, ok := bound((b == atMost) == e.Allow).clauses(w, false)
		if !ok {
			return nil, false
		}
		if e.Allow {
			out = append(out, product(rest, clauses)...)
		} else {
			for _, d := range clauses {
				if rest, ok = without(rest, d); !ok {
					return nil, false
				}
			}
		}
		if len(out) > maxClauses || len(rest) > maxClauses {
			return nil, false
		}
	}
	if l.Open {
		out = append(out, rest...)
	}
	return out, true
}

// clauses returns the clauses of a set. At most, unknown conditions hold, and their complements too.
func (b bound) clauses(w *access.Written, negated bool) ([]clause, bool) {
	if w == nil {
		return nil, false
	}
	negated = negated != w.Negated
	switch c := w.Condition.(type) {
	case access.UnknownCondition:
		if b == atMost {
			return []clause{{}}, true
		}
		return nil, true
	case rbac.Comparison:
		if negated {
			return []clause{{except: [][]rbac.Comparison{{c}}}}, true
		}
		return []clause{{match: []rbac.Comparison{c}}}, true
	}
	all := w.All != negated
	var out []clause
	if all {
		out = []clause{{}}
	}
	for _, m := range w.Members {
		next, ok := b.clauses(m, negated)
		if !ok {
			return nil, false
		}
		if all {
			out = product(out, next)
		} else {
			out = append(out, next...)
		}
		if len(out) > maxClauses {
			return nil, false
		}
	}
	return out, true
}

func product(a, b []clause) []clause {
	var out []clause
	for _, x := range a {
		for _, y := range b {
			out = append(out, clause{slices.Concat(x.match, y.match), slices.Concat(x.except, y.except)})
		}
	}
	return out
}

// without returns the requests of clauses that are not in another one: those that do not meet its
// match, and those of its exceptions.
func without(all []clause, d clause) (out []clause, ok bool) {
	for _, c := range all {
		if len(d.match) > 0 {
			out = append(out, clause{c.match, append(slices.Clone(c.except), d.match)})
		}
		for _, e := range d.except {
			out = append(out, clause{slices.Concat(c.match, e), c.except})
		}
		if len(out) > maxClauses {
			return nil, false
		}
	}
	return out, true
}

// forClient returns the clause for the requests of a client, without the conditions on it.
func (c clause) forClient(plain bool, id string, named []string) (clause, bool) {
	match, some := client(c.match, plain, id, named)
	if !some {
		return clause{}, false
	}
	out := clause{match: match}
	for _, e := range c.except {
		rest, may := client(e, plain, id, named)
		if may && len(rest) == 0 {
			return clause{}, false
		}
		if may && !slices.ContainsFunc(out.except, func(o []rbac.Comparison) bool { return equal(o, rest) }) {
			out.except = append(out.except, rest)
		}
	}
	return out, true
}

// client returns the conditions that are left for a client; some is false if it meets none of them
// together. Each part is simple, and together they are the parts of one request.
func client(parts []rbac.Comparison, plain bool, id string, named []string) (rest []rbac.Comparison, some bool) {
	for _, p := range parts {
		switch {
		case p.Part == "spiffeId" && plain:
			return nil, false
		case p.Part == "spiffeId" && id != OtherClients:
			if !p.Holds(id) {
				return nil, false
			}
			continue
		case p.Part == "spiffeId" && p.Type == rbac.Exact && slices.Contains(named, p.Value):
			return nil, false
		}
		next := rest[:0:0]
		needless := false
		for _, q := range rest {
			if q.Part != p.Part || q.Name != p.Name {
				next = append(next, q)
				continue
			}
			switch {
			case implies(&q, &p):
				needless = true
				next = append(next, q)
			case implies(&p, &q):
			case p.Type == rbac.Exact && !q.Holds(p.Value) || q.Type == rbac.Exact && !p.Holds(q.Value):
				return nil, false
			default:
				next = append(next, q)
			}
		}
		if rest = next; !needless {
			rest = append(rest, p)
		}
	}
	return rest, true
}

// implies reports whether each text that meets a condition is known to meet another one.
func implies(a, b *rbac.Comparison) bool {
	switch {
	case b.Type == rbac.Present || a.Type == b.Type && a.Value == b.Value:
		return true
	case a.Type == rbac.Exact:
		return b.Holds(a.Value)
	}
	return a.Type == rbac.StringPrefix && b.Type == rbac.StringPrefix && strings.HasPrefix(a.Value, b.Value)
}

func equal(a, b []rbac.Comparison) bool {
	return slices.EqualFunc(a, b, func(x, y rbac.Comparison) bool {
		return x.Part == y.Part && x.Name == y.Name && x.Type == y.Type && x.Value == y.Value
	})
}

func (c clause) equals(d clause) bool {
	return equal(c.match, d.match) && slices.EqualFunc(c.except, d.except, equal)
}

// published returns the clause of an answer; ok is false if a part has two conditions.
func (c clause) published() (out Clause, ok bool) {
	if out.Match, ok = matchOf(c.match); !ok {
		return Clause{}, false
	}
	for _, e := range c.except {
		m, ok := matchOf(e)
		if !ok {
			return Clause{}, false
		}
		out.Except = append(out.Except, m)
	}
	return out, true
}

func matchOf(parts []rbac.Comparison) (m Match, ok bool) {
	at := map[string]**Text{"spiffeId": &m.SpiffeID, "sni": &m.SNI, "method": &m.Method, "path": &m.Path}
	for _, p := range parts {
		text := Text{p.Type, p.Value}
		switch field := at[p.Part]; {
		case p.Part == "header":
			m.Headers = append(m.Headers, Header{p.Name, text})
		case p.Part == "tag" && p.Type == rbac.Exact && m.Tags[p.Name] == "":
			if m.Tags == nil {
				m.Tags = map[string]string{}
			}
			m.Tags[p.Name] = p.Value
		case field == nil || *field != nil:
			return Match{}, false
		default:
			*field = &text
		}
	}
	return m, true
}

// noCondition is why a cell has no condition.
const noCondition = "its condition has more than 32 clauses, or several conditions on one part of a request"

// conditions adds the conditions of a cell: of all chains, or none if one of them has none.
func (cell *Cell) conditions(chains []*aloneChain, id string, named []string) {
	join := func(b bound) *When {
		all := &When{Any: []Clause{}}
		for _, c := range chains {
			one, ok := whenOf(c, id, named, b)
			if !ok || len(chains) > 1 && len(c.match) > 0 {
				cell.Why = noCondition
				return nil
			}
			all.Any = append(all.Any, one.Any...)
		}
		return all
	}
	switch {
	case cell.Access == access.Some.String():
		cell.When = join(atLeast)
	case len(cell.Conditions) > 0:
		cell.AtLeast, cell.AtMost = join(atLeast), join(atMost)
	}
}
