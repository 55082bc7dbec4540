package rbac

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Exact SPIFFE IDs are looked up in a map before a list is compared. So an ID may be in the
// map only if no earlier entry of the list could match the same client: otherwise the map
// would decide too early, or in the name of another policy. If an ID cannot be in the map,
// a new map begins after the list. The two constants bound the cost.
const (
	// fewRules is the number of rules up to which the identities of each are one comparison
	// of the list, if they fit into one expression. A map takes twice the space of each
	// identity, an action for it, and the comparison as well.
	fewRules = 8
	// maxStages bounds how deeply matchers nest: a map with its list takes four levels
	// of messages, and Envoy's parser refuses more than 100.
	maxStages = 8
)

// stageRule is the entries of one rule in a stage.
type stageRule struct {
	rule   int // index of the rule
	mapped []string
	listed []*permission.Entry
}

// plan divides the entries of the rules into stages, in order. A stage is a map followed by
// a list.
func plan(rules []ruleEntries) [][]stageRule {
	identities := 0
	for _, r := range rules {
		identities += len(r.entries)
	}
	p := planner{stage: make([]stageRule, 0, len(rules)), ids: make([]string, 0, identities)}
	for i, r := range rules {
		rule, blocked := p.split(i, r.entries)
		if blocked > maxAlternation && len(p.stages)+1 < maxStages {
			p.endStage(rules)
			rule, _ = p.split(i, r.entries)
		}
		p.stage = append(p.stage, rule)
		p.list.add(rule.listed)
	}
	p.endStage(rules)
	return p.stages
}

type planner struct {
	stages [][]stageRule // done
	stage  []stageRule   // the current one
	list   listed        // what the list of the stage may match
	ids    []string      // in the maps of all stages
}

// split divides the entries of one rule between the map and the list of the current stage.
// Blocked is the size in bytes of the identities that the map cannot contain.
func (p *planner) split(rule int, entries []*permission.Entry) (out stageRule, blocked int) {
	out.rule = rule
	begin := len(p.ids)
	for _, e := range entries {
		switch {
		case !isIdentity(e):
			out.listed = append(out.listed, e)
		case p.list.mayMatch(e.Match.SpiffeID.Value):
			out.listed = append(out.listed, e)
			blocked += len(e.Match.SpiffeID.Value)
		default:
			p.ids = append(p.ids, e.Match.SpiffeID.Value)
		}
	}
	out.mapped = p.ids[begin:len(p.ids):len(p.ids)]
	return out, blocked
}

// endStage ends the current stage and begins a new one. If its map has the identities of only
// a few rules, they are compared in the list instead.
func (p *planner) endStage(rules []ruleEntries) {
	mapped, fit := 0, true
	for _, r := range p.stage {
		if len(r.mapped) > 0 {
			mapped++
			fit = fit && alternatives(r.mapped) == len(r.mapped)
		}
	}
	if mapped <= fewRules && fit {
		for i := range p.stage {
			p.stage[i].mapped, p.stage[i].listed = nil, rules[p.stage[i].rule].entries
		}
	}
	if len(p.stage) > 0 {
		p.stages = append(p.stages, p.stage)
	}
	p.stage, p.list = nil, listed{}
}

// isIdentity reports whether an entry asks for one SPIFFE ID and nothing else.
func isIdentity(e *permission.Entry) bool {
	return asksForIDOnly(e) && e.Match.SpiffeID.Type == conf.SpiffeIDExact
}

func asksForIDOnly(e *permission.Entry) bool {
	m := e.Match
	return m.SpiffeID != nil && m.SNI == nil && m.Path == nil && m.Method == nil && len(m.Headers) == 0
}

// listed describes the SPIFFE IDs that the list of a stage may match.
type listed struct {
	anyID bool
	exact map[string]struct{}
	below request.ByPrefix[struct{}]
}

// add adds those entries of a rule that are in the list. An identity among them need not
// block itself in later rules: what kept it out of the map also keeps them out.
func (l *listed) add(entries []*permission.Entry) {
	for _, e := range entries {
		switch id := e.Match.SpiffeID; {
		case isIdentity(e):
		case id == nil:
			l.anyID = true
		case id.Type.IsPrefix():
			l.below.Change(id, func(struct{}, bool) struct{} { return struct{}{} })
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
	if l.anyID {
		return true
	}
	if _, ok := l.exact[id]; ok {
		return true
	}
	for range l.below.All(id) {
		return true
	}
	return false
}
