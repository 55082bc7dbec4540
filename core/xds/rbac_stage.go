package xds

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Exact identities are looked up in a map that stands before a list, so an
// identity may go into the map only if nothing of the list that decides before
// it could match the same client: else the list would decide too late, or the
// other policy would be named. Where that is not so a new map is begun behind
// the list. Both numbers bound what that costs.
const (
	// fewIDs is up to how many identities are compared one by one.
	fewIDs = 8
	// maxStages bounds how deep matchers nest: a map with its list takes four
	// messages, and Envoy's parser refuses more than 100.
	maxStages = 8
)

// stageRule is what a stage asks of one rule.
type stageRule struct {
	rule   int // of the rules
	mapped []string
	listed []*permission.Entry
}

// plan distributes the entries of the rules, in order, over stages.
func plan(rules []ruleEntries) [][]stageRule {
	var stages [][]stageRule
	begin := 0
	for begin < len(rules) {
		n := len(rules)
		if len(stages)+1 < maxStages {
			n = begin + stageLength(rules[begin:])
		}
		stages = append(stages, planStage(rules[begin:n], begin))
		begin = n
	}
	return stages
}

// stageLength returns how many rules go into one stage: all before the first
// with more than a few identities that this stage's map can not take.
func stageLength(rules []ruleEntries) int {
	var list listed
	for i, r := range rules {
		blocked := 0
		for _, e := range r.entries {
			if isIdentity(e) && list.mayMatch(e.Match.SpiffeID.Value) {
				blocked++
			}
		}
		if blocked > fewIDs {
			return i
		}
		list.add(r.entries)
	}
	return len(rules)
}

func planStage(rules []ruleEntries, first int) []stageRule {
	out := make([]stageRule, len(rules))
	var list listed
	mapped := 0
	for i, r := range rules {
		out[i].rule = first + i
		for _, e := range r.entries {
			if isIdentity(e) && !list.mayMatch(e.Match.SpiffeID.Value) {
				out[i].mapped = append(out[i].mapped, e.Match.SpiffeID.Value)
			} else {
				out[i].listed = append(out[i].listed, e)
			}
		}
		mapped += len(out[i].mapped)
		list.add(r.entries)
	}
	if mapped <= fewIDs {
		for i := range out {
			out[i].mapped, out[i].listed = nil, rules[i].entries
		}
	}
	return out
}

// isIdentity reports whether an entry asks for one SPIFFE ID and nothing else.
func isIdentity(e *permission.Entry) bool {
	m := e.Match
	return m.SpiffeID != nil && m.SpiffeID.Type == conf.SpiffeIDExact &&
		m.SNI == nil && m.Path == nil && m.Method == nil && len(m.Headers) == 0
}

// listed is the SPIFFE IDs that a stage's list may match.
type listed struct {
	everyone     bool
	exact, below map[string]struct{}
	longest      int // length of the longest of below
}

// add takes in the entries of a rule that are no identities. An identity that
// had to go into the list blocks nobody: the same one again is blocked by what
// blocked it.
func (l *listed) add(entries []*permission.Entry) {
	for _, e := range entries {
		switch id := e.Match.SpiffeID; {
		case isIdentity(e):
		case id == nil:
			l.everyone = true
		case id.Type == conf.SpiffeIDPrefix:
			if l.below == nil {
				l.below = map[string]struct{}{}
			}
			prefix := permission.Segments(id.Value)
			l.below[prefix] = struct{}{}
			l.longest = max(l.longest, len(prefix))
		default:
			if l.exact == nil {
				l.exact = map[string]struct{}{}
			}
			l.exact[id.Value] = struct{}{}
		}
	}
}

// mayMatch reports whether a client with the ID may be matched by the list.
func (l *listed) mayMatch(id string) bool {
	if l.everyone {
		return true
	}
	if _, ok := l.exact[id]; ok {
		return true
	}
	for i := len("spiffe://"); i <= len(id) && i <= l.longest; i++ {
		if i == len(id) || id[i] == '/' {
			if _, ok := l.below[id[:i]]; ok {
				return true
			}
		}
	}
	return false
}
