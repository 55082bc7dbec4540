package access

import (
	"cmp"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/regex"
	"github.com/meshmatch/meshmatch/core/internal/regex/language"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// variable is a part of a request that entries compare. Its value is a text, or
// absent.
type variable struct {
	part part
	name string // of the header or tag
}

// part is the kind of a variable. Variables are divided in this order.
type part uint8

const (
	spiffeID part = iota
	tag
	sni
	method
	path
	header
	unknown // a condition that nothing in a request determines; see [Undetermined]
)

// mayBeAbsent reports whether a request can lack the part.
func (v variable) mayBeAbsent() bool {
	return v.part != method && v.part != path && v != variable{header, "host"}
}

func compareVariables(a, b variable) int {
	return cmp.Or(cmp.Compare(a.part, b.part), strings.Compare(a.name, b.name))
}

// test is a condition on one variable.
type test struct {
	variable   int // index in problem.variables
	how        how
	value      string // of exactly, below and startsWith
	expression int    // of matches: index in problem.expressions
	negated    bool
}

type how uint8

const (
	exactly    = how(language.Exactly)
	below      = how(language.Below)
	startsWith = how(language.StartsWith)
	present    = how(iota)
	matches
)

// holds reports whether a text meets the test; absent means that there is no text. The
// test must not have an expression.
func (t *test) holds(text string, absent bool) bool {
	holds := !absent && (t.how == present || language.TextCondition{How: language.How(t.how), Value: t.value}.Holds(text))
	return holds != t.negated
}

// rule is a compiled entry.
type rule struct {
	entry *Entry // nil: the rule is of a [Requests]
	tests []test // tests of values in the order of their variables, then tests of expressions
	// values has a bit for each test that compares with a value.
	values uint64
	allow  bool
	number int // position in its list
	// contentID is equal for rules that differ only in their place.
	contentID int
}

// maxTests is the maximum number of conditions of an entry, because a set of
// them is a word of bits.
const maxTests = bits.UintSize

// problem contains the lists of a question, and the variables that they share.
type problem struct {
	space       *Space
	variables   []variable
	expressions []language.Language
	lists       [][]rule
	err         error // why the lists are not complete
}

// compiler makes a problem. Until compiled, the variables are in the order in which they
// are found.
type compiler struct {
	problem
	found   map[variable]int
	sources map[string]int // of expressions
	equals  map[string]int
	valued  map[string]test // by expressions on SPIFFE IDs; those that no value replaces have the way matches
	universes
}

// compile returns a compiler that has compiled the lists.
func compile(space *Space, lists ...*List) *compiler {
	c := &compiler{problem: problem{space: space}, found: map[variable]int{}, sources: map[string]int{}, equals: map[string]int{}, valued: map[string]test{}, universes: universes{}}
	for _, l := range lists {
		rules, err := c.rules(l)
		c.lists, c.err = append(c.lists, rules), cmp.Or(c.err, err)
	}
	return c
}

// rules returns the rules of a list. The error is about the first entry beyond a limit.
func (c *compiler) rules(l *List) ([]rule, error) {
	rules := make([]rule, 0, len(l.Entries))
	for i := range l.Entries {
		e := &l.Entries[i]
		tests, terms := c.tests(e.Match, e.ValueScope, e.Tags), [][]test{nil}
		if e.When != nil {
			terms = c.terms(e.When, false)
		}
		if len(terms) > maxTerms {
			return rules, &LimitError{What: fmt.Sprintf("an entry with more than %d alternatives", maxTerms), Place: e.By}
		}
		for _, term := range terms {
			r := rule{entry: e, allow: e.Allow, tests: append(slices.Clone(tests), term...)}
			if len(r.tests) > maxTests {
				return rules, &LimitError{What: fmt.Sprintf("an entry with more than %d conditions", maxTests), Place: e.By}
			}
			rules = append(rules, r)
		}
	}
	if l.Open {
		rules = append(rules, rule{allow: true})
	}
	return rules, nil
}

// tests returns the conditions of a match and of tags.
func (c *compiler) tests(m *conf.Match, scope request.ValueScope, tags resource.Tags) []test {
	var out []test
	for _, t := range tags {
		if t.Value == resource.AnyValue {
			out = append(out, test{variable: c.variable(tag, t.Key), how: present})
		} else {
			out = append(out, test{variable: c.variable(tag, t.Key), how: exactly, value: t.Value})
		}
	}
	if m == nil {
		return out
	}
	if id := m.SpiffeID; id != nil {
		t := test{variable: c.variable(spiffeID, "")}
		t.compareID(id)
		out = append(out, t)
	}
	if m.SNI != nil {
		out = append(out, test{variable: c.variable(sni, ""), how: exactly, value: strings.ToLower(string(*m.SNI))})
	}
	if m.Method != nil {
		out = append(out, test{variable: c.variable(method, ""), how: exactly, value: string(*m.Method)})
	}
	if p := m.Path; p != nil {
		out = append(out, c.path(p))
	}
	for i := range m.Headers {
		out = append(out, c.header(&m.Headers[i], scope)...)
	}
	return out
}

// path returns the test of a condition on a path. If requests have queries, a path is
// compared by an expression that ends before the query.
func (c *compiler) path(p *conf.PathMatch) test {
	t := test{variable: c.variable(path, ""), how: exactly, value: p.Value}
	if p.Type == conf.PathPrefix {
		t.how, t.value = below, request.TrimSlash(p.Value)
	}
	switch {
	case p.Type == conf.PathRegex && c.space.Queries:
		t = test{variable: t.variable, how: matches, expression: c.expression("path "+p.Value, request.Whole, func() language.Language { return language.Target(regex.MustParse(p.Value)) })}
	case p.Type == conf.PathRegex:
		t = test{variable: t.variable, how: matches, expression: c.expression(p.Value, request.Whole, func() language.Language { return language.Whole(regex.MustParse(p.Value)) })}
	case c.space.Queries:
		source := regexp.QuoteMeta(regex.OneRuneEach(t.value))
		if t.how == below {
			source += `(?:/[^?]*)?`
		}
		t = test{variable: t.variable, how: matches, expression: c.values(source + anyQuery)}
	}
	return t
}

// values returns the expression of a source in the syntax of package regexp, whose characters
// are bytes.
func (c *compiler) values(source string) int {
	return c.expression("values "+source, request.Whole, func() language.Language { return language.Values(source) })
}

// compareID makes a test compare a SPIFFE ID.
func (t *test) compareID(id *conf.SpiffeIDMatch) {
	switch id.Type {
	case conf.SpiffeIDPrefix:
		t.how, t.value = below, request.TrimSlash(id.Value)
	case conf.SpiffeIDTextPrefix:
		t.how, t.value = startsWith, id.Value
	default:
		t.how, t.value = exactly, id.Value
	}
}

// header returns the tests of a condition on a header. A value is compared by an
// expression if a part of it can meet the condition, or if the header is the host. A
// host has several forms.
func (c *compiler) header(h *conf.HeaderMatch, scope request.ValueScope) []test {
	name := strings.ToLower(string(h.Name))
	v := c.variable(header, name)
	isPresent := test{variable: v, how: present, negated: h.How() == conf.HeaderAbsent}
	if h.Value == nil {
		return []test{isPresent}
	}
	value := *h.Value
	switch how := h.How(); {
	case name == "host":
		source := request.AuthorityExpression(h)
		return []test{isPresent, {variable: v, how: matches, expression: c.scoped("host "+source, scope, func() *regex.Expr { return regex.MustParse(source).Authority() })}}
	case how == conf.HeaderRegex:
		return []test{isPresent, {variable: v, how: matches, expression: c.scoped(value, scope, func() *regex.Expr { return regex.MustParse(value) })}}
	case scope == request.Whole && how == conf.HeaderPrefix:
		return []test{{variable: v, how: startsWith, value: value}}
	case scope == request.Whole:
		return []test{{variable: v, how: exactly, value: value}}
	}
	// An element that equals the value or begins with it, in bytes.
	end := `[\t ]*(?:,(?s:.)*)?`
	if h.How() == conf.HeaderPrefix {
		end = `(?s:.)*`
	}
	source := `(?:(?s:.)*,)?[\t ]*` + regexp.QuoteMeta(regex.OneRuneEach(value)) + end
	return []test{isPresent, {variable: v, how: matches, expression: c.expression(source, request.Runs, func() language.Language { return language.Values(source) })}}
}

func (c *compiler) scoped(source string, scope request.ValueScope, parse func() *regex.Expr) int {
	return c.expression(source, scope, func() language.Language {
		switch scope {
		case request.Runs:
			return language.Runs(parse())
		case request.Denial:
			return language.Denial(parse())
		}
		return language.Whole(parse())
	})
}

func (c *compiler) expression(source string, scope request.ValueScope, compile func() language.Language) int {
	key := fmt.Sprint(scope, " ", source)
	i, known := c.sources[key]
	if !known {
		i = len(c.expressions)
		c.sources[key], c.expressions = i, append(c.expressions, compile())
	}
	return i
}

func (c *compiler) variable(p part, name string) int {
	v := variable{p, name}
	i, known := c.found[v]
	if !known {
		i = len(c.variables)
		c.found[v], c.variables = i, append(c.variables, v)
	}
	return i
}

// compiled returns the problem, with the variables and the tests in order.
func (c *compiler) compiled() *problem {
	found := slices.Clone(c.variables)
	slices.SortFunc(c.variables, compareVariables)
	order := make([]int, len(found))
	for i, v := range found {
		order[i], _ = slices.BinarySearchFunc(c.variables, v, compareVariables)
	}
	for _, rules := range c.lists {
		for i := range rules {
			r := &rules[i]
			r.number = i
			for k := range r.tests {
				r.tests[k].variable = order[r.tests[k].variable]
			}
			slices.SortFunc(r.tests, compareTests)
			r.tests = slices.Compact(r.tests)
			for k := range r.tests {
				if r.tests[k].how != matches {
					r.values |= 1 << k
				}
			}
			key := fmt.Sprint(r.allow, r.tests)
			if c.equals[key] == 0 {
				c.equals[key] = len(c.equals) + 1
			}
			r.contentID = c.equals[key]
		}
	}
	return &c.problem
}

func compareTests(a, b test) int {
	return cmp.Or(
		boolToInt(a.how == matches)-boolToInt(b.how == matches),
		cmp.Compare(a.variable, b.variable), cmp.Compare(a.how, b.how), strings.Compare(a.value, b.value),
		cmp.Compare(a.expression, b.expression), boolToInt(a.negated)-boolToInt(b.negated),
	)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
