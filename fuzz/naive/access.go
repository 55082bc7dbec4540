package naive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Access returns the output of `meshmatch access` (SPEC 10): the decision for a
// request to an inbound. There is one warning for each cause; its text is not
// specified.
func Access(kinds *resource.Kinds, set *resource.Set, meshName, namespace, name, inbound string, r Request, opt Options) (map[string]any, error) {
	dp, err := findDataplane(set, meshName, namespace, name)
	if err != nil {
		return nil, err
	}
	i, err := findInbound(dp, inbound)
	if err != nil {
		return nil, err
	}
	kind, err := findKind(kinds, "MeshTrafficPermission")
	if err != nil {
		return nil, err
	}
	m := newMesh(set, meshName, opt)
	dp = m.proxy(dp)
	if m.permitsAll(dp) {
		return map[string]any{"decision": "ALLOW", "by": byDefault(), "warnings": []any{"there is no identity"}}, nil
	}
	policies := selectingInbound(m.matching(kind, dp), i)
	if haveRules(policies) || m.kuma3() { // Kuma 3 ignores from
		return m.accessByRules(policies, speaksHTTP(&dp.Inbounds[listenerOf(dp, i)]), &r), nil
	}
	return accessByFrom(policies, resource.NewTags(r.Tags)), nil
}

// entry is one entry of a permission list, with its place.
type entry struct {
	condition
	policy *resource.Policy
	rule   int
	list   string
	index  int
}

func (e *entry) place() map[string]any {
	return map[string]any{"kri": policyKRI(e.policy), "rule": e.rule, "list": e.list, "index": e.index}
}

// entries returns the entries of the given lists, for all rules in order.
func (m *mesh) entries(policies []*resource.Policy, lists ...string) []entry {
	var all []entry
	for _, p := range policies {
		for rule := range p.Rules {
			conf := m.permissionLists(p.Rules[rule].Conf)
			for _, list := range lists {
				for index, c := range conf[list] {
					all = append(all, entry{c, p, rule, list, index})
				}
			}
		}
	}
	return all
}

// permissionLists returns the lists of a rule. In the semantics of Kuma a prefix of a SPIFFE ID
// is text (SPEC 7.2).
func (m *mesh) permissionLists(conf any) map[string][]condition {
	data, err := json.Marshal(conf)
	if err != nil {
		panic(fmt.Sprintf("naive: a permission has no JSON: %v", err))
	}
	var lists map[string][]condition
	if err := json.Unmarshal(data, &lists); err != nil {
		panic(fmt.Sprintf("naive: a permission is no lists of matches: %v", err))
	}
	for _, list := range lists {
		for _, c := range list {
			if c.SpiffeID != nil && c.SpiffeID.Type == "Prefix" && m.kumaLike() {
				c.SpiffeID.Type = "text"
			}
		}
	}
	return lists
}

// accessByRules implements SPEC 7.3, and the shadow decision of 7.4: a denial by
// the first allowWithShadowDeny entry that matches, otherwise the decision itself.
// An HTTP inbound whose entries compare paths refuses an escaped slash (11.2).
func (m *mesh) accessByRules(policies []*resource.Policy, http bool, r *Request) map[string]any {
	answer := map[string]any{"warnings": m.ruleWarnings(policies, http)}
	all := m.entries(policies, "deny", "allow", "allowWithShadowDeny")
	asksForPath := slices.ContainsFunc(all, func(e entry) bool { return e.Path != nil && http })
	if _, refused := normalPath(r.Path); refused && asksForPath {
		answer["decision"], answer["by"] = "DENY", byDefault()
	} else {
		decide(answer, r, http, m.entries(policies, "deny"), m.entries(policies, "allow", "allowWithShadowDeny"))
	}
	shadowDenies := m.entries(policies, "allowWithShadowDeny")
	if len(shadowDenies) == 0 {
		return answer
	}
	shadow := map[string]any{"decision": answer["decision"], "by": answer["by"]}
	if _, refused := normalPath(r.Path); !refused || !asksForPath {
		for _, e := range slices.Backward(shadowDenies) {
			if e.applies(r, http) {
				shadow["decision"], shadow["by"] = "DENY", e.place()
			}
		}
	}
	answer["shadow"] = shadow
	return answer
}

// decide sets the decision: a denial by the first entry that denies, otherwise a
// permission by the first entry that allows, otherwise the default denial.
func decide(answer map[string]any, r *Request, http bool, denies, allows []entry) {
	for _, e := range denies {
		if e.applies(r, http) {
			answer["decision"], answer["by"] = "DENY", e.place()
			return
		}
	}
	for _, e := range allows {
		if e.applies(r, http) {
			answer["decision"], answer["by"] = "ALLOW", e.place()
			return
		}
	}
	answer["decision"], answer["by"] = "DENY", byDefault()
}

func byDefault() map[string]any { return map[string]any{"default": true} }

// applies implements SPEC 7.5: an entry that a TCP inbound cannot evaluate never
// opens it.
func (e *entry) applies(r *Request, http bool) bool {
	if http || !e.needsHTTP() {
		return e.holds(r, e.scope())
	}
	if e.list == "deny" {
		rest := e.connectionPart()
		return rest.holds(r, denial)
	}
	return false
}

// scope returns how the entries of a list compare headers.
func (e *entry) scope() scope {
	switch e.list {
	case "allow":
		return whole
	case "allowWithShadowDeny":
		return runs
	}
	return denial
}

func (m *mesh) ruleWarnings(policies []*resource.Policy, http bool) []any {
	warnings := []any{}
	for _, e := range m.entries(policies, "deny", "allowWithShadowDeny", "allow") {
		if !http && e.needsHTTP() {
			warnings = append(warnings, fmt.Sprintf("%s: rules[%d].default.%s[%d] has HTTP conditions, and the inbound is TCP", policyKRI(e.policy), e.rule, e.list, e.index))
		}
		if http && e.clientsChoose() {
			warnings = append(warnings, fmt.Sprintf("%s: any client can evade or meet rules[%d].default.%s[%d] by its headers", policyKRI(e.policy), e.rule, e.list, e.index))
		}
	}
	if haveFrom(policies) {
		warnings = append(warnings, "rules count here, and from does not")
	}
	return warnings
}

// clientsChoose reports whether the entry allows by the absence of a header, or denies by
// any condition on a header. Every request has a host.
func (e *entry) clientsChoose() bool {
	for _, h := range e.Headers {
		if !strings.EqualFold(h.Name, "host") && (h.Type == "Absent" || e.list == "deny") {
			return true
		}
	}
	return false
}

// accessByFrom implements SPEC 7.6: the decision by the action of the merged conf,
// and the decision with Deny instead of AllowWithShadowDeny.
func accessByFrom(policies []*resource.Policy, tags resource.Tags) map[string]any {
	from := &Concatenation{}
	from.addFrom(policies)
	decision, by := "DENY", any(byDefault())
	shadowDecision := "DENY"
	for _, item := range from.selecting(tags) {
		switch action(item.conf) {
		case "allow":
			decision, shadowDecision, by = "ALLOW", "ALLOW", item.origin()
		case "allowwithshadowdeny":
			decision, shadowDecision, by = "ALLOW", "DENY", item.origin()
		case "deny":
			decision, shadowDecision, by = "DENY", "DENY", item.origin()
		}
	}
	answer := map[string]any{"decision": decision, "by": by, "warnings": []any{}}
	if anyShadowAction(policies) {
		answer["shadow"] = map[string]any{"decision": shadowDecision, "by": by}
	}
	return answer
}

// action returns the last action that is set, in lower case.
func action(conf any) string {
	word, _ := toJSON(conf).(map[string]any)["action"].(string)
	return strings.ToLower(word)
}

func anyShadowAction(policies []*resource.Policy) bool {
	for _, p := range policies {
		for i := range p.From {
			if action(p.From[i].Conf) == "allowwithshadowdeny" {
				return true
			}
		}
	}
	return false
}
