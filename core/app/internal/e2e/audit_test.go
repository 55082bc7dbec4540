package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/fuzz"
)

// The permissions of the audit, of clients by SPIFFE ID and by tags.
const (
	auditedInbounds = `type: Dataplane
mesh: default
name: backend
networking:
  address: 127.0.0.1
  inbound:
    - {port: 8080, name: http, tags: {kuma.io/service: backend, kuma.io/protocol: http}}
    - {port: 8081, name: tcp, tags: {kuma.io/service: backend, kuma.io/protocol: tcp}}
---
type: MeshTrafficPermission
mesh: default
name: clients
spec:
`
	auditedRules = `  rules:
    - default:
        deny:
          - path: {type: Prefix, value: /metrics}
          - spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/legacy"}
        allow:
          - spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/web"}
          - spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/legacy-2"}
            path: {type: Prefix, value: /a}
            method: GET
          - spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/webhook"}
            headers: [{name: x-team, value: a}]
          - path: {type: RegularExpression, value: "/[a-z]+"}
            sni: api.shop.mesh
`
	auditedTags = `  from:
    - {targetRef: {kind: MeshService, name: web}, default: {action: Allow}}
    - {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: Allow}}
    - {targetRef: {kind: MeshServiceSubset, name: web, tags: {version: v2}}, default: {action: Deny}}
`
)

// mutation is a filter with one fault, in a listener of its own.
type mutation struct {
	trial
	filter printedFilter
	isOwn  bool // without a fault
}

// Probes are the random requests to each filter. One that Envoy decides otherwise than the
// policies shows that a fault is one.
const (
	auditedMutations = 60
	auditProbes      = 16
)

// An audit of a running Envoy finds nothing in our filters. In a filter with a fault it finds a
// request that the Envoy decides as the audit says, unless no request shows the fault.
func TestAuditFindsFaultsOfFilters(t *testing.T) {
	envoytest.Path(t)
	all := auditedFilters(t)
	ca := envoytest.NewAuthority(t)
	var listeners []object
	for i := range all {
		m := &all[i]
		m.name = fmt.Sprintf("l%d", i)
		listeners = append(listeners, listenerOf(t, ca, m.name, m.permissions, m.filter, false))
	}
	e := startEnvoy(t, listeners)
	chains := dumpedChains(t, e)
	found := make([]bool, len(all))
	each(len(all), func(i int) {
		m := &all[i]
		tags := m.permissions.Clients != nil
		filters := rbac.New(chains[m.name], rbac.Connection{TLS: true, NoTags: !tags, Port: 8080})
		differences, err := access.CompareChain(&access.Space{Protocol: m.permissions.Protocol, NoTags: !tags, Queries: true}, access.ListOf(m.permissions), filters.Chain, access.Limits{})
		if err != nil {
			t.Errorf("%s: %v", m.title, err)
			return
		}
		if found[i] = len(differences) > 0; found[i] && m.isOwn {
			t.Errorf("%s: the audit finds %+v", m.title, *differences[0].Witness)
		}
		for n, d := range differences {
			if len(d.Unknown) > 0 {
				continue // such as a tag whose key an unescaped dot makes several keys
			}
			c := clientOf(d.Witness)
			got, err := send(e.ports[m.name], ca.Issue(t, c.Certificate(tags)...), transportOf(m.permissions.Protocol, c, n), c)
			if err != nil || got.refused || got.allowed != d.After.Allow || got.allowed == m.permissions.Decide(c.Request()).Decision.Allow {
				t.Errorf("%s: %+v: allowed %v, refused %v, %v; the audit says %v, the policies %v", m.title, c, got.allowed, got.refused, err, d.After.Allow, d.Before.Allow)
			}
		}
		if found[i] {
			return
		}
		for n, c := range m.clients {
			how := transportOf(m.permissions.Protocol, c, n)
			want, refused := m.answer(seenBy(how, c))
			if refused || escapedSlash.MatchString(c.Path) || hasDotParameters(c.Path) {
				continue // the audit has no such path (SPEC 19.1)
			}
			got, err := send(e.ports[m.name], ca.Issue(t, c.Certificate(tags)...), how, c)
			if err != nil || got.allowed != want.Decision.Allow {
				t.Errorf("%s: %+v: allowed %v, %v; the policies decide %v and the audit finds nothing", m.title, c, got.allowed, err, want.Decision.Allow)
			}
		}
	})
	count := 0
	for i := range all {
		if found[i] {
			count++
		} else if !all[i].isOwn {
			t.Logf("no request shows the fault: %s", all[i].title)
		}
	}
	if t.Logf("%d of %d filters with a fault are found", count, len(all)-2*len(formsOf(t))*2); count < 30 {
		t.Errorf("%d faults are found, want at least 30", count)
	}
}

// dumpedChains returns the filter chains of an Envoy by listener, as its dump shows them.
func dumpedChains(t *testing.T, e *envoy) map[string]*dump.Chain {
	chains := map[string]*dump.Chain{}
	for _, p := range dumpedProxies(t, e) {
		for i := range p.Listeners {
			l := &p.Listeners[i]
			chains[l.Name] = &l.Chains[0]
		}
	}
	return chains
}

func dumpedProxies(t *testing.T, e *envoy) []*dump.Proxy {
	body, err := e.Get("/config_dump?include_eds")
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := dump.ParseProxies([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return proxies
}

// auditedFilters returns our filters in all forms, and filters with one fault each.
func auditedFilters(t *testing.T) []mutation {
	var own, faults []mutation
	r := rand.New(rand.NewPCG(1, 19))
	for _, policy := range []string{auditedRules, auditedTags} {
		permissions, err := permissiontest.Permissions(resourcetest.Decode(t, auditedInbounds+policy))
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range formsOf(t) {
			for _, inbound := range []string{"http", "tcp"} {
				m := mutation{trial: trial{title: inbound + "/" + form.name, permissions: permissions[inbound], form: form.form}, isOwn: true}
				for range auditProbes {
					if c := permissiontest.RandomClient(r); !c.HasComma(permissions[inbound].Clients != nil) && !c.HasSeveralIDs() {
						m.clients = append(m.clients, c)
					}
				}
				m.filter = printed(t, m.permissions, form.form, "x.")
				own = append(own, m)
				data, err := json.Marshal(m.filter.config)
				if err != nil {
					t.Fatal(err)
				}
				for n := 0; ; n++ {
					var config object
					if err := json.Unmarshal(data, &config); err != nil {
						t.Fatal(err)
					}
					name, ok := mutate(config, n)
					if !ok {
						break
					}
					fault := m
					fault.isOwn, fault.title, fault.filter.config = false, m.title+": "+name, config
					faults = append(faults, fault)
				}
			}
		}
	}
	if most := auditedMutations * fuzz.Soak(t); len(faults) > most { // evenly
		var some []mutation
		for i := range most {
			some = append(some, faults[i*len(faults)/most])
		}
		faults = some
	}
	return append(own, faults...)
}

// mutate makes the n-th fault in the config of a filter and names it; ok is false if there are
// fewer.
func mutate(config object, n int) (name string, ok bool) {
	do := func(what string, fault func()) {
		if n == 0 {
			name, ok = what, true
			fault()
		}
		n--
	}
	var walk func(path string, o object)
	walk = func(path string, o object) {
		for _, key := range slices.Sorted(maps.Keys(o)) {
			at := path + "." + key
			switch v := o[key].(type) {
			case string:
				switch {
				case key == "action" && v == "ALLOW":
					do(at+" denies", func() { o[key] = "DENY" })
				case key == "action" && v == "DENY":
					do(at+" allows", func() { o[key] = "ALLOW" })
				case key == "exact" && len(v) > 1:
					do(at+" is a prefix", func() { delete(o, key); o["prefix"] = v })
					do(at+" lacks its last letter", func() { o[key] = v[:len(v)-1] })
				case key == "regex":
					if strings.Contains(v, `\.`) {
						do(at+" has an unescaped dot", func() { o[key] = strings.Replace(v, `\.`, `.`, 1) })
					}
					if strings.Contains(v, "web") {
						do(at+" has another name", func() { o[key] = strings.Replace(v, "web", "wab", 1) })
					}
				}
			case []any:
				for i := range v {
					if len(v) > 2 || len(v) == 2 && key != "predicate" { // Envoy asks for two
						do(fmt.Sprintf("%s lacks [%d]", at, i), func() { o[key] = slices.Delete(slices.Clone(v), i, i+1) })
					}
					if inner, is := v[i].(object); is {
						walk(fmt.Sprintf("%s[%d]", at, i), inner)
					}
				}
			case object:
				if key == "policies" && len(v) > 0 {
					for _, policy := range slices.Sorted(maps.Keys(v)) {
						do(at+" lacks "+policy, func() { delete(v, policy) })
					}
				}
				if v["singlePredicate"] != nil {
					do(at+" is negated", func() { o[key] = object{"notMatcher": v} })
				}
				walk(at, v)
			}
		}
	}
	for _, key := range []string{"matcher", "rules"} {
		if config[key] != nil {
			do("no "+key, func() { delete(config, key) })
		}
	}
	walk("", config)
	return name, ok
}
