package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// KindName is the policy kind that contains the rules.
const KindName = "MeshTrafficPermission"

// Permissions decides which requests one inbound allows. The zero value denies
// every request.
type Permissions struct {
	Protocol request.Protocol
	// Either Rules or Clients decides, and the other is nil. Both are nil if no
	// policy selects the inbound, or if NotApplied is set.
	Rules   *DecisionList
	Clients *Clients
	// selected reports that a policy selects the inbound, even if none of its entries
	// can match there.
	selected bool
	// NotApplied reports that every request is allowed because no policy is applied;
	// see [Open].
	NotApplied bool
	// Warnings are about fields with no effect, or with an unexpected effect,
	// in the order of the rules.
	Warnings []diag.Diagnostic
}

// ForInbound returns the permissions of a dataplane's inbound, given its index. Config
// is the dataplane's config of MeshTrafficPermission, or nil if no such policy selects
// it. The config of another kind has the same effect as nil: every request is denied.
func ForInbound(config *results.Config, d *resource.Dataplane, inbound int) *Permissions {
	p := &Permissions{Protocol: request.ProtocolOf(d, inbound)}
	if config == nil || config.Kind.Name != KindName {
		return p
	}
	in := config.Inbounds[inbound]
	p.selected = in.From != nil || len(in.Unmerged) > 0 || in.FromIgnored
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

// Open returns the permissions of a dataplane's inbound, given its index, if no
// policy is applied because the dataplane has no identity (SPEC 17.1). They allow
// every request, with a warning.
func Open(d *resource.Dataplane, inbound int) *Permissions {
	return &Permissions{
		Protocol: request.ProtocolOf(d, inbound), NotApplied: true,
		Warnings: []diag.Diagnostic{{
			Code: diag.OpenInbound, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound), What: "every client is allowed, because " + OpenReason, Hint: OpenHint,
		}},
	}
}

// OpenReason is the reason why no policy is applied, for messages; OpenHint
// suggests a remedy.
const (
	OpenReason = "no MeshTrafficPermission is applied to a dataplane without identity"
	OpenHint   = "select the dataplane with a MeshIdentity"
)

// RulesOf returns the rules of an inbound. Package results does not merge the
// rules of MeshTrafficPermission.
func RulesOf(unmerged []results.Contribution) []Rule {
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
func policiesOf(config *results.Config, inbound int) []*resource.Policy {
	var out []*resource.Policy
	for _, m := range config.Matched.All() {
		if m.Inbounds.Has(inbound) && len(m.Policy.From) > 0 {
			out = append(out, m.Policy)
		}
	}
	return out
}

// ignored returns the warning of an inbound about policies with an ignored `from`:
// rules of other policies replace it (SPEC 5.6), or the semantics ignores it (SPEC
// 17.1).
func ignored(policies []*resource.Policy, replaced bool) diag.Diagnostic {
	code, what := diag.FromNotRead, "is ignored, because only rules are applied"
	if replaced {
		code, what = diag.FromIgnored, "is ignored, because other policies of the inbound have rules"
	}
	if others := len(policies) - 1; others > 0 {
		what += fmt.Sprintf("; %d more like this", others)
	}
	return diag.Diagnostic{Code: code, Pos: policies[0].From[0].Pos, Path: "spec.from", What: what, Hint: "write it as rules"}
}

// Decide returns the answer to a request.
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
