package permissiontest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/template"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Dataplane is the name of the dataplane of each scenario. Its inbounds are
// named "http" and "tcp" after their protocols.
const Dataplane = "backend"

// Scenario returns a mesh of one dataplane and up to five policies. Most
// policies have only rules, some only `from`, and a few both. One scenario of
// three is for the semantics of Kuma, as [core.Detect] finds; there the dataplane
// has an identity.
func Scenario(r *rand.Rand) *resource.Set {
	set := &resource.Set{Dataplanes: []*resource.Dataplane{{
		Meta:    resource.Meta{ID: resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: Dataplane}},
		Address: "127.0.0.2",
		Inbounds: []resource.Inbound{
			{Port: 8080, Name: "http", Protocol: "http", Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})},
			{Port: 9090, Name: "tcp", Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})},
		},
	}}}
	kind := meshtrafficpermission.Kind()
	ofKuma := r.IntN(3) == 0
	if ofKuma {
		set.Objects = append(set.Objects, identityOfAll())
	}
	style := r.IntN(10)
	for i := range r.IntN(6) {
		p := &resource.Policy{
			Meta: resource.Meta{ID: resource.ID{Kind: "MeshTrafficPermission", Mesh: "default", Name: fmt.Sprintf("p%d", i)}},
			Type: kind, TargetRef: targetRef(r),
		}
		if style < 7 || style == 9 && r.IntN(2) == 0 {
			p.Rules = randomRules(r)
		} else {
			p.From = randomFrom(r)
		}
		if ofKuma {
			asInKuma(p)
		}
		set.Policies = append(set.Policies, p)
	}
	return set
}

// identityOfAll selects every dataplane.
func identityOfAll() *resource.MeshIdentity {
	i := &resource.MeshIdentity{}
	i.ID = resource.ID{Kind: resource.MeshIdentityKind, Mesh: "default", Name: "all"}
	path := template.Template("/all")
	i.Spec = spiffe.IdentitySpec{
		Selector: &spiffe.IdentitySelector{Dataplane: &spiffe.LabelSelector{}},
		SpiffeID: &spiffe.IDTemplate{Path: &path},
		Provider: spiffe.IdentityProvider{Type: spiffe.Spire},
	}
	return i
}

// asInKuma makes a policy one that a control plane of Kuma has: it refuses prefixes that end
// in a slash, and confs that decide nothing.
func asInKuma(p *resource.Policy) {
	p.Labels = resource.NewTags(map[string]string{resource.PolicyRoleLabel: "system"})
	deny := meshtrafficpermission.Deny
	for i := range p.From {
		if c := p.From[i].Conf.(*meshtrafficpermission.Conf); c.Action == nil {
			c.Action = &deny
		}
	}
	for i := range p.Rules {
		c := p.Rules[i].Conf.(*meshtrafficpermission.RuleConf)
		if c.Deny == nil && c.Allow == nil && c.AllowWithShadowDeny == nil {
			c.Deny = []conf.Match{{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: spiffePrefixes[0]}}}
		}
		for _, list := range [][]conf.Match{c.Deny, c.Allow, c.AllowWithShadowDeny} {
			for k := range list {
				if id := list[k].SpiffeID; id != nil {
					id.Value = strings.TrimSuffix(id.Value, "/")
				}
			}
		}
	}
}

func targetRef(r *rand.Rand) resource.TargetRef {
	switch r.IntN(4) {
	case 0:
		return resource.TargetRef{Kind: resource.TargetDataplane}
	case 1:
		return resource.TargetRef{Kind: resource.TargetDataplane, SectionName: pick(r, []string{"http", "tcp"})}
	case 2:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: "backend"}
	}
	return resource.TargetRef{Kind: resource.TargetMesh}
}

func randomRules(r *rand.Rand) []resource.Rule {
	out := make([]resource.Rule, 1+r.IntN(2))
	for i := range out {
		c := &meshtrafficpermission.RuleConf{}
		if r.IntN(2) == 0 {
			c.Deny = matches(r)
		}
		if r.IntN(3) > 0 {
			c.Allow = matches(r)
		}
		if r.IntN(4) == 0 {
			c.AllowWithShadowDeny = matches(r)
		}
		out[i].Conf = c
	}
	return out
}

func randomFrom(r *rand.Rand) []resource.Item {
	out := make([]resource.Item, 1+r.IntN(3))
	for i := range out {
		out[i].TargetRef = client(r)
		c := &meshtrafficpermission.Conf{}
		if r.IntN(8) > 0 {
			action := pick(r, []meshtrafficpermission.Action{
				meshtrafficpermission.Allow, meshtrafficpermission.Allow, meshtrafficpermission.Deny, meshtrafficpermission.AllowWithShadowDeny,
			})
			c.Action = &action
		}
		out[i].Conf = c
	}
	return out
}

func client(r *rand.Rand) resource.TargetRef {
	tags := map[string]string{pick(r, tagKeys): pick(r, append([]string{resource.AnyValue}, tagValues...))}
	if r.IntN(3) == 0 {
		tags[pick(r, tagKeys)] = pick(r, tagValues)
	}
	switch r.IntN(4) {
	case 0:
		return resource.TargetRef{Kind: resource.TargetMesh}
	case 1:
		return resource.TargetRef{Kind: resource.TargetMeshService, Name: pick(r, services)}
	case 2:
		return resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: pick(r, services), Tags: resource.NewTags(tags)}
	}
	return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(tags)}
}

func matches(r *rand.Rand) []conf.Match {
	out := make([]conf.Match, 1+r.IntN(3))
	for i := range out {
		for out[i].Empty() {
			out[i] = match(r)
		}
	}
	if r.IntN(5) == 0 {
		out = append(out, crowd(r)...)
	}
	return out
}

// crowd returns many exact identities, so that a filter looks them up: about
// half of the clients, and others.
func crowd(r *rand.Rand) []conf.Match {
	var out []conf.Match
	for i := range 9 {
		out = append(out, conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: fmt.Sprintf("spiffe://shop.mesh/ns/crowd/sa/%d", i)}})
	}
	for _, id := range SpiffeIDs {
		if r.IntN(2) == 0 {
			out = append(out, conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: id}})
		}
	}
	return out
}

func match(r *rand.Rand) (m conf.Match) {
	switch r.IntN(4) {
	case 0, 1:
		m.SpiffeID = &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: pick(r, SpiffeIDs)}
	case 2:
		m.SpiffeID = &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: pick(r, spiffePrefixes)}
	}
	if r.IntN(6) == 0 {
		sni := conf.SNI(pick(r, serverNames))
		m.SNI = &sni
	}
	if r.IntN(4) == 0 {
		m.Path = pathMatch(r)
	}
	if r.IntN(5) == 0 {
		method := conf.Method(pick(r, methods))
		m.Method = &method
	}
	for range max(0, r.IntN(6)-3) {
		m.Headers = append(m.Headers, headerMatch(r))
	}
	return m
}

func pathMatch(r *rand.Rand) *conf.PathMatch {
	switch r.IntN(3) {
	case 0:
		return &conf.PathMatch{Type: conf.PathExact, Value: pick(r, exactPaths)}
	case 1:
		return &conf.PathMatch{Type: conf.PathPrefix, Value: pick(r, prefixPaths)}
	}
	return &conf.PathMatch{Type: conf.PathRegex, Value: pick(r, pathRegexes)}
}

func headerMatch(r *rand.Rand) conf.HeaderMatch {
	h := conf.HeaderMatch{Name: conf.HeaderName(pick(r, append([]string{"host"}, headerNames...)))}
	if r.IntN(4) > 0 {
		how := conf.HeaderMatchType(pick(r, conf.HeaderMatchType("").Enum()))
		h.Type = &how
	}
	values, regexes := headerValues, headerRegexes
	if h.Name == "host" {
		values, regexes = hostValues, hostRegexes
	}
	value := pick(r, values)
	switch h.How() {
	case conf.HeaderPresent, conf.HeaderAbsent:
		return h
	case conf.HeaderRegex:
		value = pick(r, regexes)
	}
	if h.How() == conf.HeaderPrefix && value != "" && h.Name != "host" {
		value += pick(r, []string{"", "", " "})
	}
	h.Value = &value
	return h
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
