package check

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// withoutDataplanes returns one warning for all policies of a mesh without
// dataplanes.
func (m *meshCheck) withoutDataplanes() {
	if len(m.policies) == 0 {
		return
	}
	first := slices.MinFunc(m.policies, func(a, b *resource.Policy) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	effect := "its policy selects none"
	if n := len(m.policies); n > 1 {
		effect = fmt.Sprintf("none of its %d policies selects any", n)
	}
	m.warn(diag.Diagnostic{
		Code: diag.NoDataplanes,
		Pos:  first.Pos,
		What: fmt.Sprintf("mesh %q has no dataplanes, so %s", m.mesh, effect),
		Hint: "give the files of the dataplanes too, with -f",
	})
}

// idlePolicies warns of policies that select no dataplane, with what no dataplane has.
func (m *meshCheck) idlePolicies() {
	selecting := map[*resource.Policy]bool{}
	for _, config := range m.configs {
		for _, matched := range config.Matched.All() {
			selecting[matched.Policy] = true
		}
	}
	facts := sync.OnceValue(func() meshFacts { return newMeshFacts(m.view.Semantics(), m.dataplanes) })
	for _, p := range m.policies {
		if selecting[p] || m.isDefaultPolicy(p) { // a mesh may have no gateways
			continue
		}
		what := p.Kind + " \"" + p.Name + "\" selects no dataplane"
		reason, hint := facts().missing(m.view.Semantics(), p)
		if reason != "" {
			what += ": " + reason
		}
		m.warn(diag.Diagnostic{Code: diag.SelectsNothing, Pos: p.TargetPos, Path: "spec.targetRef", What: what, Hint: hint, Cause: reason})
	}
}

// ignoredFrom warns of policies whose `from` has no effect on an inbound. Other
// policies of the kind have rules there (SPEC 5.6), or the semantics ignores `from`
// (SPEC 17.1).
func (m *meshCheck) ignoredFrom() {
	type place struct {
		inbound  string
		replaced bool // by the rules of other policies
	}
	where := map[*resource.Policy]place{} // the first such inbound
	for _, config := range m.configs {
		for i := range config.Inbounds {
			if !config.Inbounds[i].FromIgnored {
				continue
			}
			for _, matched := range config.Matched.All() {
				p := matched.Policy
				if config.shadow && !p.Shadow() {
					continue // rules that only inform replace only the `from` of policies that only inform
				}
				if _, known := where[p]; !known && len(p.From) > 0 && matched.Inbounds.Has(i) {
					in := config.Inbounds[i]
					where[p] = place{fmt.Sprintf("inbound %s of %s", config.dataplane.Inbounds[i].SectionName(), config.dataplane.Name), len(in.Rules)+len(in.Unmerged) > 0}
				}
			}
		}
	}
	for _, p := range m.policies {
		at, ignored := where[p]
		if !ignored {
			continue
		}
		w := diag.Diagnostic{Code: diag.FromNotRead, Pos: p.From[0].Pos, Path: "spec.from"}
		if at.replaced {
			w.Code = diag.FromIgnored
			w.What, w.Hint = "has no effect on "+at.inbound+", where other policies have rules", "write it as rules, or select other inbounds"
		} else {
			w.What, w.Hint = "has no effect on "+at.inbound+", because only rules are applied", "write it as rules"
			w.Cause = "only rules"
		}
		m.warn(w)
	}
}
