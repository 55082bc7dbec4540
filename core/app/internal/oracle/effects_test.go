package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareEffects checks the effect of each policy on each dataplane of a scenario (SPEC
// 13.4). The reference looks for the policy in the output of `inspect` and `conf`. The
// entries of permissions are not compared.
func compareEffects(s subject, scenario *fuzz.Scenario) error {
	return forDataplanes(s, scenario, (*comparison).compareEffects)
}

func (c *comparison) compareEffects() error {
	for i := range c.dp.Inbounds {
		if c.hidden(i) {
			return nil // the reference cannot query this effect
		}
	}
	if c.opt.Shadow {
		return nil // there is one answer for both
	}
	view := c.answers.(viewAnswers).View
	d := view.Dataplane(c.dp.ID)
	for _, p := range view.Policies(c.dp.Mesh) {
		want, err := c.effect(p)
		if err != nil {
			return err
		}
		got, err := why.NewPolicy(context.Background(), view, d, p, &why.Query{Kind: p.Type})
		if err != nil {
			return fmt.Errorf("%s %q: %w", p.Kind, p.Name, err)
		}
		if want == unknownEffect || p.Kind == permission.KindName && want != why.NotSelected && want != why.Informs {
			want = got.Answer
		}
		if got.Answer != want {
			return fmt.Errorf("%s %q of namespace %q: got %q, want %q: %s", p.Kind, p.Name, p.Namespace, got.Answer, want, asText(got))
		}
		if err := consistent(got); err != nil {
			return fmt.Errorf("%s %q of namespace %q: %w: %s", p.Kind, p.Name, p.Namespace, err, asText(got))
		}
	}
	return nil
}

// consistent checks that the parts of an answer are consistent.
func consistent(e *why.Policy) error {
	switch {
	case (e.Answer == why.NotSelected) != (e.Condition != nil) && e.Answer != why.WithoutAny:
		return errors.New("a condition fails if and only if the policy does not select")
	case e.Answer == why.Applies && len(e.Fields) == 0, e.Answer == why.Overridden && (len(e.Overridden) == 0 || len(e.Fields) > 0):
		return errors.New("the fields contradict the answer")
	}
	return nil
}

// unknownEffect is the effect of a policy that answers do not distinguish from another
// one, because two display names may be equal.
const unknownEffect why.Effect = ""

// sharesKRI reports whether another policy that selects the dataplane has a KRI.
func (c *comparison) sharesKRI(p *resource.Policy, kri string, all map[string]any) bool {
	return slices.ContainsFunc(c.set.Policies, func(o *resource.Policy) bool {
		return o.Kind == p.Kind && o.ID != p.ID && matchedKRI(all, o) == kri
	})
}

// effect returns the effect of a policy according to the reference.
func (c *comparison) effect(p *resource.Policy) (why.Effect, error) {
	shadow := c.ofKind(p.Kind)
	shadow.Shadow = true
	all, err := c.naive(c.set, shadow)
	if err != nil {
		return "", err
	}
	kri := matchedKRI(all, p)
	if kri == "" {
		return why.NotSelected, nil
	}
	if c.sharesKRI(p, kri, all) {
		return unknownEffect, nil
	}
	enforced, err := c.naive(c.set, c.ofKind(p.Kind))
	if err != nil {
		return "", err
	}
	if matchedKRI(enforced, p) == "" {
		return why.Informs, nil
	}
	if setsFields(enforced, kri) || c.clientsHave(c.set, p, c.ofKind(p.Kind), kri) {
		return why.Applies, nil
	}
	alone := *c.set
	alone.Policies = slices.DeleteFunc(slices.Clone(c.set.Policies), func(o *resource.Policy) bool {
		return o.ID != p.ID && (!o.IsRoute() || o.Kind == p.Kind)
	})
	single, err := c.naive(&alone, c.ofKind(p.Kind))
	if err != nil {
		return "", err
	}
	if setsFields(single, kri) || c.clientsHave(&alone, p, c.ofKind(p.Kind), kri) && c.readsClients(p, kri) {
		return why.Overridden, nil
	}
	return why.WithoutAny, nil
}

func (c *comparison) naive(set *resource.Set, opt naive.Options) (map[string]any, error) {
	opt.Explain = true
	answer, err := naive.Inspect(c.kinds, set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, opt)
	if err != nil {
		return nil, fmt.Errorf("the reference fails: %w", err)
	}
	return asTree(answer)
}

// matchedKRI returns the KRI of a policy that selects the dataplane, or "" if it
// does not.
func matchedKRI(answer map[string]any, p *resource.Policy) string {
	for _, policy := range list(answer, "policies") {
		for _, matched := range list(policy, "matched") {
			namespace, _ := matched["namespace"].(string)
			if matched["name"] == p.Name && namespace == p.Namespace {
				return matched["kri"].(string)
			}
		}
	}
	return ""
}

// setsFields reports whether a policy sets a field of an answer of `inspect dataplane`. Of
// several rules with the same match, only the first applies.
func setsFields(answer map[string]any, kri string) bool {
	for _, policy := range list(answer, "policies") {
		if conf, ok := policy["default"].(map[string]any); ok && sets(conf, kri) {
			return true
		}
		for _, outbound := range list(policy, "outbounds") {
			if sets(outbound, kri) || slices.ContainsFunc(list(outbound, "routes"), func(r map[string]any) bool { return sets(r, kri) }) {
				return true
			}
		}
		for _, inbound := range slices.Concat(list(policy, "inbounds"), list(policy, "listeners")) {
			if inbound["noEffect"] != nil {
				continue
			}
			if to, ok := inbound["to"].(map[string]any); ok && sets(to, kri) {
				return true
			}
			if slices.ContainsFunc(list(inbound, "hosts"), func(host map[string]any) bool { return sets(host, kri) }) {
				return true
			}
			seen := map[string]bool{}
			for _, rule := range list(inbound, "rules") {
				match := asText(rule["match"])
				if !seen[match] && sets(rule, kri) {
					return true
				}
				seen[match] = true
			}
		}
	}
	return false
}

// sets reports whether a policy sets a field of a conf.
func sets(conf map[string]any, kri string) bool {
	fields, _ := conf["fields"].(map[string]any)
	for _, origin := range fields {
		if origin.(map[string]any)["kri"] == kri {
			return true
		}
	}
	return false
}

// clientsHave reports whether a client of an inbound gets a field from a `from` item of a
// policy.
func (c *comparison) clientsHave(set *resource.Set, p *resource.Policy, opt naive.Options, kri string) bool {
	if p.Type.From == nil {
		return false
	}
	opt.Explain = true
	for _, from := range c.froms(set, opt) {
		for _, tags := range from.Clients() {
			if conf, err := asTree(from.C(tags)); err == nil && sets(conf, kri) {
				return true
			}
		}
	}
	return false
}

// froms returns the `from` of each inbound and of each listener where the kind acts.
func (c *comparison) froms(set *resource.Set, opt naive.Options) []*naive.Concatenation {
	var froms []*naive.Concatenation
	add := func(from *naive.Concatenation, err error) {
		if err != nil {
			panic(err)
		}
		froms = append(froms, from)
	}
	for i := range c.dp.Inbounds {
		add(naive.FromOf(c.kinds, set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.inboundName(i), opt))
	}
	for i := range c.dp.Listeners {
		if (opt.Semantics == "kuma" || opt.Semantics == "kuma3") && (c.dp.Listeners[i].Egress || opt.Kind != permission.KindName && opt.Kind != "MeshTLS") {
			add(naive.FromOfListener(c.kinds, set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, i, opt))
		}
	}
	return froms
}

// readsClients reports whether the `from` items of a policy apply at an
// inbound.
func (c *comparison) readsClients(p *resource.Policy, kri string) bool {
	for _, from := range c.froms(c.set, c.ofKind(p.Kind)) {
		for _, tags := range from.Clients() {
			if slices.ContainsFunc(from.Items(tags), func(item map[string]any) bool { return item["kri"] == kri }) {
				return true
			}
		}
	}
	return false
}
