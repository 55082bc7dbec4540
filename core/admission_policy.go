package core

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// policy checks that a policy is of a known kind, has no array that its kind
// lacks, and no targetRef that its place does not allow.
func (a *admission) policy(p *resource.Policy) {
	if p.Type == nil || a.kinds.Lookup(p.Type.Name) == nil {
		a.errorf(&p.Meta, "type", strict.DidYouMean(p.Kind, a.kinds.Names()), "%q is not one of the kinds of this engine", p.Kind)
		return
	}
	if !a.named(&p.Meta, p.Type.Name) {
		return
	}
	a.target(p, "spec.targetRef", p.Type.Top, &p.TargetRef)
	a.items(p, "spec.to", p.Type.To, p.To)
	a.items(p, "spec.from", p.Type.From, p.From)
	switch {
	case p.Rules == nil:
	case p.Type.Rules == nil:
		a.errorf(&p.Meta, "spec.rules", "", "%s has no rules", p.Kind)
	case p.From != nil:
		a.errorf(&p.Meta, "spec.from", "rules take the place of from", "from and rules are both present")
	default:
		for i := range p.Rules {
			rule := fmt.Sprintf("spec.rules[%d]", i)
			a.conf(p, rule+".default", p.Rules[i].Conf)
			if p.Rules[i].Matches != nil && !p.Type.Rules.Matches {
				a.errorf(&p.Meta, rule+".matches", "", "rules of %s have no matches", p.Kind)
			}
		}
	}
	switch {
	case p.Type.Default != nil:
		a.conf(p, "spec.default", p.Default)
	case p.Default != nil:
		a.errorf(&p.Meta, "spec.default", "", "%s has no default of its own", p.Kind)
	}
}

func (a *admission) items(p *resource.Policy, path string, section *resource.Section, items []resource.Item) {
	if section == nil {
		if items != nil {
			a.errorf(&p.Meta, path, "", "%s has none", p.Kind)
		}
		return
	}
	for i := range items {
		item := fmt.Sprintf("%s[%d]", path, i)
		a.target(p, item+".targetRef", section.Targets, &items[i].TargetRef)
		a.conf(p, item+".default", items[i].Conf)
	}
}

func (a *admission) target(p *resource.Policy, path string, allowed resource.TargetKinds, t *resource.TargetRef) {
	if !allowed.Has(t.Kind) {
		a.errorf(&p.Meta, path+".kind", "one of "+allowed.String(), "can not be %q", t.Kind)
	}
	a.tags(&p.Meta, path+".tags", t.Tags)
	a.tags(&p.Meta, path+".labels", t.Labels)
}

func (a *admission) conf(p *resource.Policy, path string, conf resource.Conf) {
	if conf == nil {
		a.errorf(&p.Meta, path, "", "required field is missing")
	}
}
