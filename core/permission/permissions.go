package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// KindName is the policy kind whose rules these are.
const KindName = "MeshTrafficPermission"

// Permissions decides which requests one inbound allows. The zero value denies
// every request.
type Permissions struct {
	Protocol request.Protocol
	// Rules or Clients decides. The other one is nil; both are nil if no policy
	// selects the inbound, and with NotApplied.
	Rules   *DecisionList
	Clients *Clients
	// NotApplied reports that every request is allowed, as no policy is applied; see
	// [Open].
	NotApplied bool
	// Warnings is about what has no effect or another effect than it seems, in
	// the order of the rules.
	Warnings []diag.Diagnostic
}

// ForInbound returns the permissions of a dataplane's inbound, given its index. Config
// is the dataplane's MeshTrafficPermissions, or nil if none selects it. The config of
// another kind is as none: every request is denied.
func ForInbound(config *rules.Config, d *resource.Dataplane, inbound int) *Permissions {
	p := &Permissions{Protocol: request.ProtocolOf(&d.Inbounds[inbound])}
	if config == nil || config.Kind.Name != KindName {
		return p
	}
	in := config.Inbounds[inbound]
	if in.From != nil {
		p.Clients = NewClients(policiesOf(config, inbound))
		return p
	}
	p.Rules, p.Warnings = NewDecisionList(p.Protocol, RulesOf(in.Unmerged))
	if in.FromIgnored {
		p.Warnings = append(p.Warnings, ignored(policiesOf(config, inbound), len(in.Unmerged) > 0))
	}
	return p
}

// Open returns the permissions of a dataplane's inbound, given its index, to which no
// policy is applied, as the dataplane has no identity (SPEC 17.1). They allow every
// request, with a warning.
func Open(d *resource.Dataplane, inbound int) *Permissions {
	return &Permissions{
		Protocol: request.ProtocolOf(&d.Inbounds[inbound]), NotApplied: true,
		Warnings: []diag.Diagnostic{{
			Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound), What: "every client is allowed, as " + OpenReason, Hint: OpenHint,
		}},
	}
}

// OpenReason is why no policy is applied, for messages; OpenHint is how to mend it.
const (
	OpenReason = "no MeshTrafficPermission is applied to a dataplane without identity"
	OpenHint   = "select the dataplane with a MeshIdentity"
)

// RulesOf returns the rules of an inbound. Package rules does not merge those of
// MeshTrafficPermission.
func RulesOf(unmerged []rules.Contribution) []Rule {
	out := make([]Rule, len(unmerged))
	for i, c := range unmerged {
		out[i] = Rule{Policy: c.Policy, Index: c.Index, Conf: c.Conf.(*meshtrafficpermission.RuleConf), Pos: c.Policy.Rules[c.Index].Pos}
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

// ignored returns the warning, one for an inbound, about policies whose `from`
// is ignored: replaced by the rules of others (SPEC 5.6), or not read (SPEC 17.1).
func ignored(policies []*resource.Policy, replaced bool) diag.Diagnostic {
	what := "is ignored, as only rules are read"
	if replaced {
		what = "is ignored, as other policies of the inbound have rules"
	}
	if others := len(policies) - 1; others > 0 {
		what += fmt.Sprintf("; so is that of %d more", others)
	}
	return diag.Diagnostic{Pos: policies[0].From[0].Pos, Path: "spec.from", What: what, Hint: "write it as rules"}
}

// Decide answers a request.
func (p *Permissions) Decide(r *request.Request) Answer {
	switch {
	case p.NotApplied:
		return Answer{Decision: Decision{Allow: true}}
	case p.Rules != nil:
		return p.Rules.Decide(r)
	case p.Clients != nil:
		return p.Clients.Decide(r.Tags)
	}
	return Answer{}
}
