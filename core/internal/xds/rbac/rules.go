package rbac

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/permission"
)

// entryRules writes the rules form of one decision. In the enforced decision a request is
// allowed if one of the policies holds. Each policy holds for what the rules of one
// MeshTrafficPermission allow, except what any rule denies. In the shadow decision a
// request is denied if one of the policies holds. A policy has the KRI of the
// MeshTrafficPermission as its name.
func entryRules(w *writer, list *permission.DecisionList, d decision) {
	rules := inOrder(entriesOf(list), d)
	t := newTranslation(RulesForm)
	conditions := map[*permission.Entry]*condition{} // made once, for all cases
	for _, r := range rules {
		for _, e := range r.entries {
			if conditions[e] = principalOf(t, e); t.tooLarge() {
				w.full = true
				return
			}
		}
	}
	p := policies{}
	budget := &sizeBudget{}
	var never []*condition
	if list.AsksForPath() {
		never = append(never, pathBeyondASCII, pathWithEscapedSlash)
	}
	for _, c := range serverNameCases(rules, d) {
		c.addPolicies(p, rules, conditions, never, budget)
		if budget.spent > MaxFilter {
			w.full = true
			return
		}
	}
	p.write(w, d)
}

// principalOf returns the condition of an entry without its server name.
func principalOf(t *translation, e *permission.Entry) *condition {
	m := *e.Match
	m.SNI = nil
	if m.Empty() {
		return &condition{op: opAlways}
	}
	return t.entry(e)
}

// sizeBudget is a lower bound of the bytes that the principals take. It is checked because
// each case repeats all entries without a server name.
type sizeBudget struct{ spent int }

func (b *sizeBudget) add(c *condition) {
	b.spent += len(c.text.value) + 8
	for _, sub := range c.subs {
		b.add(sub)
	}
}

// pathBeyondASCII is [beyondASCII] in the rules form.
var pathBeyondASCII = negation(comparison(input{kind: urlPath}, textRegex, `[\x00-\x7f]*`))

// pathWithEscapedSlash is [escapedSlash] in the rules form.
var pathWithEscapedSlash = comparison(input{kind: urlPath}, textRegex, `(?s:.)*(?:%(?:2[eEfF]|5[cC])|/\.{0,2};)(?s:.)*`)

// addPolicies adds the policies of one case. No policy holds for a request that meets one
// of the conditions in never.
func (c *serverNameCase) addPolicies(p policies, rules []ruleEntries, conditions map[*permission.Entry]*condition, never []*condition, budget *sizeBudget) {
	denied := slices.Clone(never)
	var allowed []allowedBy
	for _, r := range rules {
		var alternatives []*condition
		for _, e := range r.entries {
			if !c.includes(e.Match, r.deny) {
				continue
			}
			condition := conditions[e]
			if condition.op == opAlways && r.deny && c.enforced {
				return // every client is denied
			}
			alternatives = append(alternatives, condition)
			if budget.add(condition); budget.spent > MaxFilter {
				return
			}
		}
		switch last := len(allowed) - 1; {
		case len(alternatives) == 0:
		case r.deny && c.enforced:
			denied = append(denied, alternatives...)
		case last >= 0 && allowed[last].kri == r.kri:
			allowed[last].principals = append(allowed[last].principals, alternatives...)
		default:
			allowed = append(allowed, allowedBy{r.kri, alternatives})
		}
	}
	if len(allowed)*len(denied) > maxExclusions {
		allowed = together(allowed)
	}
	for _, a := range allowed {
		if len(denied) == 0 {
			for _, principal := range a.principals {
				p.add(c.title(a.kri), c.permission, principal)
			}
			continue
		}
		p.add(c.title(a.kri), c.permission, excluding(anyOf(a.principals...), denied))
	}
}

// allowedBy is what one MeshTrafficPermission allows.
type allowedBy struct {
	kri        string
	principals []*condition
}

// maxExclusions bounds the number of principals that repeat denials, since each policy must
// exclude all of them.
const maxExclusions = 1_000

// allPolicies is the name of the one policy that replaces all the others if there would be
// more than maxExclusions.
const allPolicies = "all"

func together(allowed []allowedBy) []allowedBy {
	all := allowedBy{kri: allPolicies}
	for _, a := range allowed {
		all.principals = append(all.principals, a.principals...)
	}
	return []allowedBy{all}
}

// excluding returns a condition that holds if allowed holds and no condition of denied
// does.
func excluding(allowed *condition, denied []*condition) *condition {
	if len(denied) == 0 {
		return allowed
	}
	return allOf(allowed, negation(anyOf(denied...)))
}
