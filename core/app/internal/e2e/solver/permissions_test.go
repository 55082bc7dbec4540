package solver

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
)

// randomPolicies returns up to four permissions.
func (w *world) randomPolicies(r *rand.Rand) []policy {
	var out []policy
	for i := range 1 + r.IntN(4) {
		p := policy{name: fmt.Sprintf("p%d", i)}
		switch r.IntN(4) {
		case 0:
			p.all = true
		case 1:
			p.section = pick(r, "http", "http", "tcp")
		}
		if w.from {
			for range 1 + r.IntN(3) {
				p.from = append(p.from, randomItem(r))
			}
		} else {
			for range 1 + r.IntN(2) {
				p.rules = append(p.rules, w.randomRule(r))
			}
		}
		out = append(out, p)
	}
	return out
}

func randomItem(r *rand.Rand) item {
	i := item{action: pick(r, "Allow", "Allow", "Deny", "AllowWithShadowDeny"), tags: map[string]string{}}
	if r.IntN(3) == 0 {
		i.service = pick(r, "web", "legacy", "cart")
	}
	for range r.IntN(3) {
		i.tags[pick(r, "version", "team")] = pick(r, "v1", "v2", "a", "*")
	}
	return i
}

func (w *world) randomRule(r *rand.Rand) rule {
	var out rule
	for _, l := range out.lists() {
		if chance := map[string]int{"deny": 2, "allow": 4, "allowWithShadowDeny": 1}[l.name]; r.IntN(5) >= chance {
			continue
		}
		for range 1 + r.IntN(3) {
			*l.entries = append(*l.entries, w.randomMatch(r))
		}
	}
	if r.IntN(6) == 0 && len(out.Allow) > 0 { // two denials that cover an entry together
		covered := out.Allow[0]
		out.Deny = append(out.Deny, covered.and(header{Type: "Present", Name: "x-team"}), covered.and(header{Type: "Absent", Name: "x-team"}))
	}
	if len(out.Deny)+len(out.Allow)+len(out.Shadow) == 0 {
		out.Allow = []match{w.randomMatch(r)}
	}
	return out
}

// and returns a match with one more condition on x-team in place of others.
func (m match) and(h header) match {
	m.Headers = slices.DeleteFunc(slices.Clone(m.Headers), func(other header) bool { return other.Name == h.Name })
	m.Headers = append(m.Headers, h)
	return m
}

func (w *world) randomMatch(r *rand.Rand) match {
	for {
		var m match
		if r.IntN(5) < 3 {
			m.SpiffeID = w.randomID(r)
		}
		if r.IntN(6) == 0 {
			m.SNI = pick(r, "api.shop.mesh", "Shop.mesh")
		}
		if r.IntN(4) == 0 {
			m.Method = pick(r, "GET", "POST")
		}
		if r.IntN(3) == 0 {
			m.Path = randomPath(r)
		}
		for _, name := range []string{"x-team", "X-Canary"} {
			if r.IntN(5) == 0 {
				m.Headers = append(m.Headers, randomHeader(r, name))
			}
		}
		if r.IntN(6) == 0 {
			m.Headers = append(m.Headers, pick(r, header{"Exact", "cookie", "a=1"}, header{"Prefix", "Cookie", "a"}, header{"Exact", "cookie", "a=1; b"},
				header{"RegularExpression", "cookie", "(.*; )?a=1(; .*)?"}, header{"Present", "cookie", ""}, header{"Absent", "cookie", ""}))
		}
		if r.IntN(6) == 0 {
			m.Headers = append(m.Headers, pick(r, header{"Exact", "host", "shop"}, header{"Exact", "Host", "Shop.mesh"}, header{"Exact", "host", "shop:80"}, header{"Prefix", "host", "sh"}))
		}
		if !m.empty() {
			return m
		}
	}
}

func (w *world) randomID(r *rand.Rand) *typed {
	if r.IntN(2) == 0 {
		return &typed{"Exact", pick(r, idOf("web"), idOf("web"), idOf("legacy"), "spiffe://shop.mesh/ns/web/sa/webhook", "spiffe://other.mesh/ns/web/sa/web")}
	}
	id := pick(r, "spiffe://shop.mesh", "spiffe://shop.mesh/ns/web", "spiffe://shop.mesh/ns/web/sa/web", "spiffe://shop.mesh/ns/legacy", "spiffe://other.mesh")
	if w.semantics == semantics.Kuma { // a prefix of text
		id = pick(r, id, "spiffe://shop.mesh/ns/we", "spiffe://shop.mesh/n", "spiffe://s")
	} else if r.IntN(4) == 0 {
		id += "/"
	}
	return &typed{"Prefix", id}
}

func randomPath(r *rand.Rand) *typed {
	switch r.IntN(3) {
	case 0:
		return &typed{"Exact", pick(r, "/", "/a", "/a/", "/a/b", "/metrics")}
	case 1:
		return &typed{"Prefix", pick(r, "/", "/a", "/a/b", "/metrics/")}
	}
	return &typed{"RegularExpression", pick(r, "/a.*", "/[a-z]+", "/a(/b)?", ".*b", "/a|/b", "/[^b]*", "/(a|b)?", "/x{0,2}", "/...", "/[0-9]+(/.*)?")}
}

func randomHeader(r *rand.Rand, name string) header {
	h := header{Name: name, Type: pick(r, "Exact", "Prefix", "RegularExpression", "Present", "Absent")}
	switch h.Type {
	case "Exact":
		h.Value = pick(r, "a", "ab", "a,b", "a b", "b")
	case "Prefix":
		h.Value = pick(r, "a", "ab", "a,b", "a ")
	case "RegularExpression":
		h.Value = pick(r, "a.*", "b?", "[^a]+", "a,.*", "..", "[^,]*b", "[ab]{2}", "(a|b)+")
	}
	return h
}

// edited returns a mesh after an edit. Half of the edits only rewrite the permissions, and most
// of these change no decision.
func (m *mesh) edited(r *rand.Rand) *mesh {
	out := &mesh{world: m.world}
	for _, p := range m.policies {
		p.rules, p.from = slices.Clone(p.rules), slices.Clone(p.from)
		for i := range p.rules {
			for _, l := range p.rules[i].lists() {
				*l.entries = slices.Clone(*l.entries)
			}
		}
		out.policies = append(out.policies, p)
	}
	p := &out.policies[r.IntN(len(out.policies))]
	switch {
	case m.from && r.IntN(2) == 0:
		p.from = append(p.from, randomItem(r))
	case m.from:
		p.from = append([]item{pick(r, p.from...)}, p.from...)
	case r.IntN(2) == 0:
		p.rules[r.IntN(len(p.rules))] = m.randomRule(r)
	default:
		out.rewrite(r, p)
	}
	return out
}

// rewrite moves and repeats entries of a policy.
func (m *mesh) rewrite(r *rand.Rand, p *policy) {
	for range 1 + r.IntN(3) {
		at := &p.rules[r.IntN(len(p.rules))]
		l := pick(r, at.lists()...)
		if len(*l.entries) == 0 {
			continue
		}
		e := pick(r, *l.entries...)
		switch r.IntN(4) {
		case 0: // the reverse order
			slices.Reverse(*l.entries)
		case 1: // the same entry again, in a rule of its own
			more := rule{}
			for _, other := range more.lists() {
				if other.name == l.name {
					*other.entries = []match{e}
				}
			}
			p.rules = append(p.rules, more)
		case 2: // a part of the entry, which it covers
			*l.entries = append(*l.entries, e.and(header{Type: "Present", Name: "x-part"}))
		case 3: // both parts in place of the entry
			i := slices.IndexFunc(*l.entries, func(other match) bool { return asJSON(other) == asJSON(e) })
			*l.entries = slices.Insert(slices.Delete(*l.entries, i, i+1), i,
				e.and(header{Type: "Present", Name: "x-part"}), e.and(header{Type: "Absent", Name: "x-part"}))
		}
	}
}
