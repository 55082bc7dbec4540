package access

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex"
	"github.com/meshmatch/meshmatch/core/internal/regex/language"
)

// A proxy writes a condition of a policy in its own terms: a prefix as an expression, a path as
// three comparisons. A search divides the requests by each expression, so the search is short if
// conditions with one meaning are one condition. Meaning is compared for the texts that the part
// of a request can have.

// maxMeaning is the maximum number of steps to compare the meaning of two conditions. Conditions
// that need more stay two.
const maxMeaning = 1 << 14

// join returns one set for several expressions on one part of a request, as far as there are
// several among the members of a union.
func join(sets []*Requests) []*Requests {
	var out []*Requests
	at := map[variable]int{}
	for _, s := range sets {
		if s == nil || s.fact == nil || s.negated || s.fact.how != matches {
			out = append(out, s)
			continue
		}
		i, known := at[s.fact.variable]
		if !known {
			at[s.fact.variable] = len(out)
			out = append(out, s)
			continue
		}
		out[i] = Subject{s.fact.variable}.Matches(out[i].fact.value + "|(?:" + s.fact.value + ")")
	}
	return out
}

// byValue returns the comparison with a value that holds for the same SPIFFE IDs as an expression,
// if there is one.
func (c *compiler) byValue(v variable, source string) (t test, ok bool) {
	if v.part != spiffeID {
		return test{}, false
	}
	if known, found := c.valued[source]; found {
		return known, known.how != matches
	}
	defer func() {
		if !ok {
			t.how = matches
		}
		c.valued[source] = t
	}()
	literal, complete := regexp.MustCompile(`(?:` + source + `)`).LiteralPrefix()
	if literal == "" || !regex.ASCII(literal) {
		return test{}, false
	}
	candidates := []language.TextCondition{{How: language.Below, Value: literal}, {How: language.StartsWith, Value: literal}, {How: language.StartsWith, Value: literal + "/"}}
	if complete {
		candidates = []language.TextCondition{{How: language.Exactly, Value: literal}}
	}
	expression := language.Values(source)
	for _, k := range candidates {
		if k.How == language.Below && strings.HasSuffix(literal, "/") {
			continue
		}
		value := language.NewTrie([]language.TextCondition{k}).Like(k.Value)
		if _, some := c.shortest(v, value); some && c.equal(v, expression, value) {
			return test{how: how(k.How), value: k.Value}, true
		}
	}
	return test{}, false
}

// shortest returns a shortest text of a part that is in a language.
func (c *compiler) shortest(v variable, l language.Language) (text string, ok bool) {
	in, out := c.universes.texts(v, c.space)
	steps := maxMeaning
	text, ok, err := language.Shortest(append(in, l), out, &steps)
	return text, ok && err == nil
}

// equal reports whether two languages have the same texts of a part. It may report false for
// languages that are hard to compare.
func (c *compiler) equal(v variable, a, b language.Language) bool {
	in, out := c.universes.texts(v, c.space)
	steps := maxMeaning
	for _, pair := range [][2]language.Language{{a, b}, {b, a}} {
		_, some, err := language.Shortest(append(in[:len(in):len(in)], pair[0]), append(out[:len(out):len(out)], pair[1]), &steps)
		if some || err != nil {
			return false
		}
	}
	return true
}

// maxMerged is the maximum number of expressions on one part that are compared with each other.
const maxMerged = 512

// mergeExpressions makes expressions on one part that match the same texts one expression.
func (c *compiler) mergeExpressions() {
	type member struct {
		expression int
		shortest   string
		some       bool
	}
	of := map[variable][]member{} // those that differ
	merged := map[[2]int]int{}    // by variable and expression
	c.eachExpression(func(t *test) {
		key := [2]int{t.variable, t.expression}
		if to, known := merged[key]; known {
			t.expression = to
			return
		}
		v, l := c.variables[t.variable], c.expressions[t.expression]
		merged[key] = t.expression
		if len(of[v]) == maxMerged {
			return
		}
		m := member{expression: t.expression}
		m.shortest, m.some = c.shortest(v, l)
		for _, o := range of[v] {
			other := c.expressions[o.expression]
			if m.some == o.some && len(m.shortest) == len(o.shortest) && language.Contains(other, m.shortest) == m.some && language.Contains(l, o.shortest) == m.some && c.equal(v, l, other) {
				merged[key], t.expression = o.expression, o.expression
				return
			}
		}
		of[v] = append(of[v], m)
	})
}

// eachExpression calls do for each test of an expression.
func (c *compiler) eachExpression(do func(*test)) {
	for _, rules := range c.lists {
		for i := range rules {
			for k := range rules[i].tests {
				if t := &rules[i].tests[k]; t.how == matches {
					do(t)
				}
			}
		}
	}
}
