package solver

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A world is what two meshes have in common that differ in their permissions: the semantics, the
// certificates of clients, and three dataplanes.
type world struct {
	semantics semantics.Semantics
	clients   certificates
	trust     string // the document of a MeshTrust for otherDomain
	from      bool   // permissions select clients by tags
	alphabet
}

// certificates are those that clients of an inbound have.
type certificates string

const (
	none       certificates = "no TLS"
	anyDomain  certificates = "any trust domain"
	oneDomain  certificates = "one trust domain"
	twoDomains certificates = "two trust domains"
	withTags   certificates = "one trust domain, and tags"
)

const (
	domain      = "shop.mesh"
	otherDomain = "other.mesh"
)

// dataplanes are the clients of reach by name, with the tags of their inbounds. The permissions
// of backend are compared.
var dataplanes = map[string]map[string]string{
	"backend": {"kuma.io/service": "backend"},
	"web":     {"kuma.io/service": "web", "team": "a", "version": "v1"},
	"legacy":  {"kuma.io/service": "legacy", "version": "v2"},
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{semantics: semantics.TargetRef, from: r.IntN(5) == 0}
	w.clients = pick(r, none, anyDomain, oneDomain, oneDomain, twoDomains)
	if r.IntN(3) == 0 {
		w.semantics, w.clients = semantics.Kuma, pick(r, anyDomain, oneDomain, twoDomains)
	}
	if w.from && r.IntN(3) > 0 {
		w.clients = withTags
	}
	if w.clients == twoDomains {
		w.trust = fmt.Sprintf("{type: MeshTrust, name: other, spec: {trustDomain: %s, caBundles: [{type: Pem, pem: {value: %q}}]}}", otherDomain, envoytest.NewAuthority(t).Bundle())
	}
	return w
}

// idOf returns the SPIFFE ID of a dataplane.
func idOf(dataplane string) string {
	return "spiffe://" + domain + "/ns/" + dataplane + "/sa/" + dataplane
}

// documents returns the documents of the world without permissions.
func (w *world) documents() []string {
	provider := map[certificates]string{
		anyDomain: `{type: Spire}`, oneDomain: bundled, twoDomains: bundled,
		withTags: `{type: Extension, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /b}}}`,
	}[w.clients]
	var out []string
	if provider != "" {
		out = append(out, `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: `+domain+`, path: "/ns/{{ .Name }}/sa/{{ .Name }}"}, provider: `+provider+`}}`)
	}
	if w.trust != "" {
		out = append(out, w.trust)
	}
	for name, tags := range dataplanes {
		tcp := map[string]string{}
		for k, v := range tags {
			tcp[k] = v
		}
		out = append(out, asJSON(map[string]any{"type": "Dataplane", "name": name, "networking": map[string]any{"address": "127.0.0.2", "inbound": []any{
			map[string]any{"port": 8080, "name": "http", "tags": with(tags, "kuma.io/protocol", "http")}, map[string]any{"port": 9090, "name": "tcp", "tags": tcp},
		}}}))
	}
	return out
}

const bundled = `{type: Bundled, bundled: {autogenerate: {enabled: true}}}`

// A policy is a MeshTrafficPermission.
type policy struct {
	name    string
	all     bool   // its targetRef is Mesh, and not Dataplane
	section string // "": all inbounds
	rules   []rule
	from    []item
}

type rule struct {
	Deny   []match `json:"deny,omitempty"`
	Allow  []match `json:"allow,omitempty"`
	Shadow []match `json:"allowWithShadowDeny,omitempty"`
}

// lists returns the lists of entries in the order in which they decide.
func (r *rule) lists() []list {
	return []list{{"deny", &r.Deny}, {"allow", &r.Allow}, {"allowWithShadowDeny", &r.Shadow}}
}

type list struct {
	name    string
	entries *[]match
}

type item struct {
	service string // "": any
	tags    map[string]string
	action  string
}

func (p *policy) document(as semantics.Semantics) string {
	target := map[string]any{"kind": "Dataplane"}
	if p.all {
		target["kind"] = "Mesh"
	}
	if p.section != "" {
		target["sectionName"] = p.section
	}
	spec := map[string]any{"targetRef": target}
	for _, r := range p.rules {
		rules, _ := spec["rules"].([]any)
		spec["rules"] = append(rules, map[string]any{"default": r})
	}
	for _, i := range p.from {
		from, _ := spec["from"].([]any)
		spec["from"] = append(from, map[string]any{"targetRef": i.targetRef(), "default": map[string]any{"action": i.action}})
	}
	out := map[string]any{"type": "MeshTrafficPermission", "mesh": "default", "name": p.name, "spec": spec}
	if as == semantics.Kuma {
		out["labels"] = map[string]any{"kuma.io/policy-role": "system"}
	}
	return asJSON(out)
}

func (i *item) targetRef() map[string]any {
	switch {
	case i.service != "" && len(i.tags) > 0:
		return map[string]any{"kind": "MeshServiceSubset", "name": i.service, "tags": i.tags}
	case i.service != "":
		return map[string]any{"kind": "MeshService", "name": i.service}
	case len(i.tags) > 0:
		return map[string]any{"kind": "MeshSubset", "tags": i.tags}
	}
	return map[string]any{"kind": "Mesh"}
}

// A mesh is a world with permissions.
type mesh struct {
	*world
	policies []policy
}

// load returns the mesh as the commands have it. The line of a rule is its number, in a file
// with the name of the policy.
func (m *mesh) load(t *testing.T) (*resource.Set, *core.View) {
	documents := m.documents()
	for i := range m.policies {
		documents = append(documents, m.policies[i].document(m.semantics))
	}
	set := resourcetest.Decode(t, strings.Join(documents, "\n---\n"))
	for _, p := range set.Policies {
		for j := range p.Rules {
			p.Rules[j].Pos = diag.Position{File: p.Name, Line: j + 1}
		}
	}
	view, err := core.Options{Semantics: m.semantics}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return set, view
}

// ordered returns the policies of an inbound, those that override last (SPEC 3, 17.1).
func (m *mesh) ordered(inbound string) []*policy {
	var out []*policy
	for i := range m.policies {
		if p := &m.policies[i]; p.section == "" || p.section == inbound {
			out = append(out, p)
		}
	}
	level := func(p *policy) int {
		switch {
		case p.all:
			return 0
		case p.section == "":
			return 1
		}
		return 2
	}
	slices.SortFunc(out, func(a, b *policy) int {
		if byLevel := level(a) - level(b); byLevel != 0 {
			return byLevel
		}
		byName := strings.Compare(a.name, b.name)
		if m.semantics == semantics.Kuma {
			return -byName
		}
		return byName
	})
	return out
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func with(tags map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range tags {
		out[k] = v
	}
	return out
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
