package solver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// An alphabet has the languages that the formulas of a world compare the parts of a request
// with. A formula names a comparison by a Boolean: that the part is present and in the language.
//
// The parts are independent of each other. So it is enough that z3 finds, for each part, which
// comparisons hold together for some text: it divides all texts of the part by one language after
// another, and keeps what is not empty. These rows then restrict the Booleans of all formulas.
type alphabet struct {
	languages map[string][]string // by part
}

// in returns the formula that a part is present and in a language.
func (a *alphabet) in(part, language string) string {
	if a.languages == nil {
		a.languages = map[string][]string{}
	}
	i := slices.Index(a.languages[part], language)
	if i < 0 {
		i = len(a.languages[part])
		a.languages[part] = append(a.languages[part], language)
	}
	return comparison(part, i)
}

func comparison(part string, i int) string { return fmt.Sprintf("%s-%d", part, i) }

func has(part string) string { return "has-" + part }

// restrictions returns the declarations of all Booleans and what z3 finds of them.
func (a *alphabet) restrictions(t *testing.T, z3 *process) string {
	var b strings.Builder
	for _, part := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "(declare-const %s Bool)\n", has(part))
		var none []string
		for i := range a.languages[part] {
			fmt.Fprintf(&b, "(declare-const %s Bool)\n", comparison(part, i))
			none = append(none, not(comparison(part, i)))
		}
		rows := a.rows(t, z3, part)
		fmt.Fprintf(&b, "(assert (ite %s %s %s))\n", has(part), or(rows...), and(none...))
	}
	return b.String()
}

// rows returns the comparisons that hold together for some text of a part.
func (a *alphabet) rows(t *testing.T, z3 *process, part string) []string {
	type row struct {
		holds    []string
		language string
	}
	all := []row{{nil, texts[part]}}
	for i, language := range a.languages[part] {
		var next []row
		for _, r := range all {
			for _, side := range []row{
				{append(slices.Clone(r.holds), comparison(part, i)), "(re.inter " + r.language + " " + language + ")"},
				{append(slices.Clone(r.holds), not(comparison(part, i))), "(re.inter " + r.language + " (re.comp " + language + "))"},
			} {
				if z3.exists(t, "(str.in_re text "+side.language+")") {
					next = append(next, side)
				}
			}
		}
		all = next
	}
	var out []string
	for _, r := range all {
		out = append(out, and(r.holds...))
	}
	return out
}
