package identity_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/template"
	"github.com/meshmatch/meshmatch/core/resource"
)

const provider = "provider: {type: Spire, spire: {}}"

// load decodes identities with the given specs, named a, b, c and so on, and then
// the dataplane.
func load(t *testing.T, dataplane string, specs ...string) loaded {
	t.Helper()
	text := dataplane
	for i, spec := range specs {
		text += "\n---\n{type: MeshIdentity, mesh: prod, name: " + string(rune('a'+i)) + ", spec: {" + spec + ", " + provider + "}}"
	}
	set := resourcetest.Decode(t, text)
	return loaded{set, resource.ObjectsOf[*resource.MeshIdentity](set.Objects)}
}

// loaded is a set with the MeshIdentities among its objects.
type loaded struct {
	*resource.Set
	Identities []*resource.MeshIdentity
}

const (
	web = `{type: Dataplane, mesh: prod, name: web-1, networking: {address: a}, labels: {app: web, tier: front, kuma.io/zone: east, k8s.kuma.io/namespace: shop, k8s.kuma.io/service-account: web}}`
	vm  = `{type: Dataplane, mesh: prod, name: vm-1, networking: {address: a}, labels: {app: web}}`
	all = `selector: {dataplane: {matchLabels: {}}}`
)

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		dataplane string
		specs     []string
		want      string // the name of the identity and the SPIFFE ID
	}{
		"defaults on Kubernetes":       {web, []string{all}, "a spiffe://prod.mesh.local/ns/shop/sa/web"},
		"defaults elsewhere":           {vm, []string{all}, "a spiffe://prod.mesh.local/dataplane/vm-1"},
		"no service account":           {strings.Replace(web, "k8s.kuma.io/service-account: web", "a: b", 1), []string{all}, "a spiffe://prod.mesh.local/dataplane/web-1"},
		"no labels in the selector":    {vm, []string{`selector: {dataplane: {}}`}, "a spiffe://prod.mesh.local/dataplane/vm-1"},
		"empty selector":               {vm, []string{`selector: {}`}, ""},
		"no selector":                  {vm, []string{`spiffeID: {path: /a}`}, ""},
		"other label":                  {vm, []string{`selector: {dataplane: {matchLabels: {app: db}}}`}, ""},
		"label that is absent":         {vm, []string{`selector: {dataplane: {matchLabels: {tier: ""}}}`}, ""},
		"most labels":                  {web, []string{all, `selector: {dataplane: {matchLabels: {app: web}}}`, `selector: {dataplane: {matchLabels: {app: web, tier: front}}}`}, "c spiffe://prod.mesh.local/ns/shop/sa/web"},
		"most labels that match":       {vm, []string{all, `selector: {dataplane: {matchLabels: {app: web}}}`, `selector: {dataplane: {matchLabels: {app: web, tier: front}}}`}, "b spiffe://prod.mesh.local/dataplane/vm-1"},
		"name":                         {web, []string{`selector: {dataplane: {matchLabels: {tier: front}}}`, `selector: {dataplane: {matchLabels: {app: web}}}`}, "a spiffe://prod.mesh.local/ns/shop/sa/web"},
		"trust domain":                 {web, []string{all + `, spiffeID: {trustDomain: "{{ .Mesh }}.{{.Zone}}.example"}`}, "a spiffe://prod.east.example/ns/shop/sa/web"},
		"path":                         {web, []string{all + `, spiffeID: {path: "/{{ .Namespace }}/{{ .Name }}/{{ .ServiceAccount }}/{{ label \"app\" }}"}`}, "a spiffe://prod.mesh.local/shop/web-1/web/web"},
		"workload":                     {strings.Replace(vm, "app: web", "kuma.io/workload: api", 1), []string{all + `, spiffeID: {path: "/workload/{{ .Workload }}"}`}, "a spiffe://prod.mesh.local/workload/api"},
		"no workload":                  {vm, []string{all + `, spiffeID: {path: "/workload/{{ .Workload }}"}`}, `error: MeshIdentity "a" in mesh "prod": "spiffe://prod.mesh.local/workload/" is not a SPIFFE ID: a path segment is empty`},
		"both, without variables":      {vm, []string{all + `, spiffeID: {trustDomain: td, path: /x}`}, "a spiffe://td/x"},
		"the field's other spelling":   {vm, []string{all + `, spiffeId: {path: /x}`}, "a spiffe://prod.mesh.local/x"},
		"label that is missing":        {vm, []string{all + `, spiffeID: {path: "/{{ label \"team\" }}"}`}, `error: MeshIdentity "a" in mesh "prod": spec.spiffeID.path: Dataplane "vm-1" in mesh "prod" has no label "team"`},
		"label of the trust domain":    {vm, []string{all + `, spiffeID: {trustDomain: "{{ label \"team\" }}"}`}, `error: MeshIdentity "a" in mesh "prod": spec.spiffeID.trustDomain: Dataplane "vm-1" in mesh "prod" has no label "team"`},
		"variable without a value":     {vm, []string{all + `, spiffeID: {path: "/{{ .Zone }}/a"}`}, `error: MeshIdentity "a" in mesh "prod": "spiffe://prod.mesh.local//a" is not a SPIFFE ID: a path segment is empty`},
		"name that makes no SPIFFE ID": {strings.Replace(vm, "vm-1", "vm~1", 1), []string{all}, `error: MeshIdentity "a" in mesh "prod": "spiffe://prod.mesh.local/dataplane/vm~1" is not a SPIFFE ID: the path segment "vm~1" has a character other than letters, digits, '.', '-' and '_'`},
		"another mesh":                 {strings.Replace(vm, "prod", "test", 1), []string{all}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := load(t, c.dataplane, c.specs...)
			for range 2 { // in both orders
				got := ""
				id, err := identity.New(set.Identities, identity.ByMesh).IdentityOf(set.Dataplanes[0])
				switch {
				case err != nil:
					got = "error: " + err.Error()
				case id != nil:
					got = id.Source.Name + " " + id.SPIFFEID
					if !strings.HasPrefix(id.SPIFFEID, "spiffe://"+id.TrustDomain+"/") {
						t.Errorf("trust domain %q of %s", id.TrustDomain, id.SPIFFEID)
					}
				}
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				slices.Reverse(set.Identities)
			}
		})
	}
}

func TestTrustDomain(t *testing.T) {
	for spec, want := range map[string]string{
		all:                            "prod.mesh.local",
		all + `, spiffeID: {path: /x}`: "prod.mesh.local",
		all + `, spiffeID: {trustDomain: "{{ .Mesh }}.example"}`: "prod.example",
		all + `, spiffeID: {trustDomain: "{{ .Zone }}.example"}`: "",
		all + `, spiffeID: {trustDomain: "{{ label \"a\" }}"}`:   "",
	} {
		set := load(t, web, spec)
		domain, fixed := identity.New(set.Identities, identity.ByMesh).TrustDomain(set.Identities[0])
		if domain != want || fixed != (want != "") {
			t.Errorf("%s: got %q, %v", spec, domain, fixed)
		}
	}
}

// TestKumasDefaults: the trust domain and the path that Kuma gives a MeshIdentity without
// spiffeID, and what a dataplane without a zone or a workload has instead (SPEC 17.4).
func TestKumasDefaults(t *testing.T) {
	zoned := strings.Replace(vm, "app: web", "app: web, kuma.io/zone: east", 1)
	for name, c := range map[string]struct{ dataplane, spec, want string }{
		"Kubernetes":         {web, all, "spiffe://prod.east.mesh.local/ns/shop/sa/web"},
		"zone":               {zoned, all, "spiffe://prod.east.mesh.local/dataplane/vm-1"},
		"workload":           {strings.Replace(zoned, "app: web", "app: web, kuma.io/workload: shop", 1), all, "spiffe://prod.east.mesh.local/workload/shop"},
		"no zone":            {vm, all, "spiffe://prod.mesh.local/dataplane/vm-1"},
		"given trust domain": {zoned, all + `, spiffeID: {trustDomain: td}`, "spiffe://td/dataplane/vm-1"},
		"given path":         {zoned, all + `, spiffeID: {path: /x}`, "spiffe://prod.east.mesh.local/x"},
		"given zone":         {zoned, all + `, spiffeID: {trustDomain: "{{ .Zone }}.example", path: /x}`, "spiffe://east.example/x"},
	} {
		t.Run(name, func(t *testing.T) {
			set := load(t, c.dataplane, c.spec)
			ids := identity.New(set.Identities, identity.ByZone)
			if id, err := ids.IdentityOf(set.Dataplanes[0]); err != nil || id.SPIFFEID != c.want {
				t.Errorf("got %+v, %v", id, err)
			}
			if _, fixed := ids.TrustDomain(set.Identities[0]); fixed != (name == "given trust domain") {
				t.Errorf("the trust domain of all dataplanes is fixed: %v", fixed)
			}
		})
	}
	set := load(t, web, all)
	if r := identity.New(set.Identities, identity.ByZone).Rules("prod")[0]; !slices.Contains(r.AskedVariables, "Zone") {
		t.Errorf("the identity does not depend on the zone, but on %v", r.AskedVariables)
	}
}

// Kuma sends a MeshIdentity that was made in a zone to no other zone (SPEC 17.1).
func TestMeshIdentityOfAZone(t *testing.T) {
	const west = "kuma.io/origin: zone, kuma.io/zone: west"
	for name, c := range map[string]struct {
		identity, dataplane string
		selected            bool
	}{
		"the same zone":                  {west, west, true},
		"another zone":                   {west, "kuma.io/origin: zone, kuma.io/zone: east", false},
		"a dataplane without a zone":     {west, "kuma.io/origin: zone", true},
		"a dataplane without an origin":  {west, "kuma.io/zone: east", true},
		"a MeshIdentity of Global":       {"kuma.io/origin: global, kuma.io/zone: west", "kuma.io/origin: zone, kuma.io/zone: east", true},
		"a MeshIdentity without a zone":  {"kuma.io/origin: zone", "kuma.io/origin: zone, kuma.io/zone: east", true},
		"a MeshIdentity without origins": {"kuma.io/zone: west", "kuma.io/origin: zone, kuma.io/zone: east", true},
	} {
		set := load(t, fmt.Sprintf(`{type: Dataplane, mesh: prod, name: vm-1, labels: {%s}, networking: {address: 10.0.0.1, inbound: [{port: 80}]}}
---
{type: MeshIdentity, mesh: prod, name: i, labels: {%s}, spec: {%s, spiffeID: {trustDomain: td, path: /x}, %s}}`, c.dataplane, c.identity, all, provider))
		for defaults, want := range map[identity.Defaults]bool{identity.ByMesh: true, identity.ByZone: c.selected} {
			if id, err := identity.New(set.Identities, defaults).IdentityOf(set.Dataplanes[0]); err != nil || (id != nil) != want {
				t.Errorf("%s, defaults %d: got %+v, %v", name, defaults, id, err)
			}
		}
	}
}

// Kuma makes the trust domain of the MeshIdentity and its zone, and the path of the dataplane.
func TestTrustDomainOfAMeshIdentity(t *testing.T) {
	const labelled = `spiffeID: {trustDomain: "{{ label \"team\" }}.{{ .Zone }}.example", path: "/{{ label \"app\" }}"}`
	for name, c := range map[string]struct{ labels, spec, want, fixed string }{
		"its zone, by default":     {"kuma.io/zone: west", `spiffeID: {path: /x}`, "spiffe://prod.west.mesh.local/x", "prod.west.mesh.local"},
		"its zone and its label":   {"kuma.io/zone: west, team: a, app: other", labelled, "spiffe://a.west.example/web", "a.west.example"},
		"the zone of a dataplane":  {"team: a", labelled, "spiffe://a.east.example/web", ""},
		"no label, and no default": {"app: other", labelled, `MeshIdentity "i" in mesh "prod": spec.spiffeID.trustDomain: the MeshIdentity has no label "team"`, ""},
	} {
		set := load(t, web+fmt.Sprintf("\n---\n{type: MeshIdentity, mesh: prod, name: i, labels: {%s}, spec: {%s, %s, %s}}", c.labels, all, c.spec, provider))
		ids := identity.New(set.Identities, identity.ByZone)
		id, err := ids.IdentityOf(set.Dataplanes[0])
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && id.SPIFFEID != c.want {
			t.Errorf("%s: got %+v, %v, want %s", name, id, err, c.want)
		}
		if domain, fixed := ids.TrustDomain(set.Identities[0]); domain != c.fixed || fixed != (c.fixed != "") {
			t.Errorf("%s: the trust domain of all dataplanes is %q, %v", name, domain, fixed)
		}
		asked := ids.Rules("prod")[0]
		if slices.Contains(asked.AskedLabels, "team") || slices.Contains(asked.AskedVariables, "Zone") == strings.Contains(c.labels, "zone") {
			t.Errorf("%s: the identity depends on the labels %v and on %v of a dataplane", name, asked.AskedLabels, asked.AskedVariables)
		}
	}
}

func TestNamespaceDecidesLast(t *testing.T) {
	set := load(t, vm, all, all)
	for i, m := range set.Identities {
		m.Name, m.Namespace = "same", string(rune('b'-i))
	}
	id, err := identity.New(set.Identities, identity.ByMesh).IdentityOf(set.Dataplanes[0])
	if err != nil || id.Source.Namespace != "a" {
		t.Errorf("got %+v, %v", id, err)
	}
}

func TestNone(t *testing.T) {
	for name, none := range map[string]*identity.Identities{"nil": nil, "zero value": {}, "empty": identity.New(nil, identity.ByMesh)} {
		if id, err := none.IdentityOf(load(t, vm).Dataplanes[0]); id != nil || err != nil || len(none.All()) != 0 {
			t.Errorf("%s: got %v, %v of %v", name, id, err, none.All())
		}
	}
}

// All includes identities that select nothing, and does not sort the given list itself.
func TestAll(t *testing.T) {
	set := load(t, vm, all, `selector: {}`)
	list := []*resource.MeshIdentity{set.Identities[1], set.Identities[0]}
	ids := identity.New(list, identity.ByMesh)
	if !slices.Equal(ids.All(), set.Identities) || list[0] != set.Identities[1] {
		t.Errorf("got %v", ids.All())
	}
}

func TestExpand(t *testing.T) {
	d := load(t, web).Dataplanes[0]
	for template, want := range map[template.Template]string{
		"":                                  "",
		"/etc/{{ .Name }}/tls.crt":          "/etc/web-1/tls.crt",
		"/{{ .Mesh }}/{{ label \"tier\" }}": "/prod/front",
	} {
		if got, err := identity.Expand(template, d); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", template, got, err, want)
		}
	}
	if _, err := identity.Expand("{{", d); err == nil {
		t.Error("a bad template is expanded")
	}
}

// Rules are in the order of their selectors, with the labels and variables of
// their templates.
func TestRules(t *testing.T) {
	set := load(t, web, all,
		`selector: {dataplane: {matchLabels: {app: a}}}, spiffeID: {trustDomain: "{{ .Zone }}.x", path: '/{{ label "team" }}/{{ .Name }}'}`,
		`spiffeID: {path: /a}`, // selects no dataplane
	)
	var got []string
	for _, r := range identity.New(set.Identities, identity.ByMesh).Rules("prod") {
		got = append(got, fmt.Sprint(r.Source.Name, " ", r.Labels, r.AskedLabels, r.AskedVariables))
	}
	if want := []string{"b app=a [team] [Zone Name]", "a  [] [Namespace ServiceAccount]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var none *identity.Identities
	if none.Rules("prod") != nil {
		t.Error("no identities have rules")
	}
}
