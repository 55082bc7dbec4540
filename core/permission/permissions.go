package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/strict"
)

// KindName is the policy kind whose rules these are.
const KindName = "MeshTrafficPermission"

// Permissions is what one inbound lets in. The zero value lets nothing in.
type Permissions struct {
	Protocol Protocol
	// Rules or Clients decides; the other one is nil, and so are both where no
	// policy says anything.
	Rules   *DecisionList
	Clients *Clients
	// Warnings is of what has no effect or another one than it seems, in the
	// order of the rules.
	Warnings []strict.Diagnostic
}

// Of returns the permissions of a dataplane's inbound, called by its index.
// Config is the one of MeshTrafficPermission; nil where no policy of the kind
// selects the dataplane.
func Of(config *rules.Config, d *resource.Dataplane, inbound int) *Permissions {
	p := &Permissions{Protocol: ProtocolOf(&d.Inbounds[inbound])}
	if config == nil {
		return p
	}
	in := &config.Inbounds[inbound]
	if in.From != nil {
		p.Clients = NewClients(policiesOf(config, inbound))
		return p
	}
	p.Rules, p.Warnings = NewDecisionList(p.Protocol, RulesOf(in.Unmerged))
	if in.FromIgnored {
		p.Warnings = append(p.Warnings, ignored(policiesOf(config, inbound)))
	}
	return p
}

// RulesOf returns rules that package rules left unmerged.
func RulesOf(unmerged []rules.Contribution) []Rule {
	out := make([]Rule, len(unmerged))
	for i, c := range unmerged {
		out[i] = Rule{Index: c.Index, Conf: c.Conf.(*meshtrafficpermission.RuleConf), Pos: c.Policy.Rules[c.Index].Pos}
		if i > 0 && unmerged[i-1].Policy == c.Policy {
			out[i].KRI = out[i-1].KRI
		} else {
			out[i].KRI = c.Policy.KRI()
		}
	}
	return out
}

// policiesOf returns the policies with `from` that select an inbound, in order.
func policiesOf(config *rules.Config, inbound int) []*resource.Policy {
	var out []*resource.Policy
	for _, m := range config.Matched.All() {
		if m.Inbounds.Has(inbound) && len(m.Policy.From) > 0 {
			out = append(out, m.Policy)
		}
	}
	return out
}

// ignored warns, once for an inbound, of policies whose `from` does not count
// (SPEC 5.6).
func ignored(policies []*resource.Policy) strict.Diagnostic {
	what := "does not count, as other policies of the inbound have rules"
	if others := len(policies) - 1; others > 0 {
		what += fmt.Sprintf("; nor do those of %d more", others)
	}
	return strict.Diagnostic{Pos: policies[0].From[0].Pos, Path: "spec.from", What: what, Hint: "write it as rules"}
}

// Decide answers a request.
func (p *Permissions) Decide(r *Request) Answer {
	switch {
	case p.Rules != nil:
		return p.Rules.Decide(r)
	case p.Clients != nil:
		return p.Clients.Decide(r.Tags)
	}
	return Answer{}
}
