package find_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

const shop = `
type: Dataplane
name: web
labels: {app: web}
networking:
  address: 10.0.0.1
  inbound:
    - {name: http, port: 80, servicePort: 8080, tags: {kuma.io/service: web, version: v1}}
    - {name: admin, port: 81, tags: {kuma.io/service: web-admin}}
  outbound:
    - {port: 10001, address: 127.0.0.1, tags: {kuma.io/service: api_shop_svc_80}}
    - {port: 10002, address: 127.0.0.2, tags: {kuma.io/service: db}}
    - {port: 10003, backendRef: {kind: MeshService, name: pay-display, port: 9000}}
---
type: Dataplane
name: twin
labels: {k8s.kuma.io/namespace: a}
networking:
  address: 10.0.0.2
  inbound:
    - {name: same, port: 80, tags: {kuma.io/service: web}}
    - {name: same, port: 81, tags: {kuma.io/service: web}}
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}
---
type: Dataplane
name: pay
labels: {app: pay}
networking: {address: 10.0.0.3, inbound: [{name: main, port: 9000, tags: {}}]}
---
type: MeshService
name: payments
labels: {kuma.io/display-name: pay-display}
spec:
  selector: {dataplaneLabels: {matchLabels: {app: pay}}}
  ports: [{port: 9000, name: main, targetPort: 9000}]
---
type: MeshTimeout
name: slow
spec: {to: [{default: {connectionTimeout: 1s}}]}
`

func shopView(t *testing.T) *core.View {
	t.Helper()
	set := resourcetest.Decode(t, shop)
	view, err := core.Options{Semantics: core.Kuma}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// A name finds the only inbound, outbound or service that has it, in each form that answers print
// or that a user knows; an error says what there is (SPEC 10).
func TestFind(t *testing.T) {
	view := shopView(t)
	dataplane := func(name string) (any, error) {
		d, err := find.Dataplane(view, "default", find.Name{Name: name})
		if err != nil {
			return nil, err
		}
		return d.Name, nil
	}
	web, err := find.Dataplane(view, "default", find.Name{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	twin, err := find.Dataplane(view, "default", find.Name{Name: "twin"})
	if err != nil {
		t.Fatal(err)
	}
	inbound := func(name string) (any, error) {
		at, err := find.Point(view, web, name)
		return at, err
	}
	outbound := func(name string) (any, error) {
		at, err := find.Outbound(view, web, name)
		return at, err
	}
	service := func(name string) (any, error) {
		s, err := find.NewService(view, "default", name, nil)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, d := range s.Dataplanes {
			for _, i := range s.Inbounds(d) {
				names = append(names, d.Name+" "+find.InboundName(d, i))
			}
		}
		return strings.Join(names, ", "), nil
	}
	client := func(name string) (any, error) {
		c, _, err := find.Client(view, "default", find.Name{Name: name})
		if err != nil {
			return nil, err
		}
		return fmt.Sprintf("%s %v", c.SpiffeID, c.Tags), nil
	}
	for _, c := range []struct {
		look func(string) (any, error)
		name string
		want string // the result; "error: " and a part of the error
	}{
		{dataplane, "web", "web"},
		{dataplane, "wep", `error: there is no dataplane "wep"; did you mean "web"?`},
		{dataplane, "ns/web", `error: there is no dataplane "web" in namespace "ns"; it is in ""`},

		{inbound, "http", "0"},
		{inbound, "81", "1"},
		{inbound, "10.0.0.1:80", "0"},
		{inbound, "kri_dp_default___web_admin", "1"},
		{inbound, "8080", `error: it has http (10.0.0.1:80), admin (10.0.0.1:81)`},

		{outbound, "db", "1"},
		{outbound, "10001", "0"},
		{outbound, "127.0.0.2:10002", "1"},
		{outbound, "api.shop", "0"},
		{outbound, "api.shop:80", "0"},
		{outbound, "api.shop.svc.cluster.local:80", "0"},
		{outbound, "payments:9000", "2"},
		{outbound, "payments:main", "2"},
		{outbound, "pay-display", "2"},
		{outbound, "cache", `error: it has api_shop_svc_80 (127.0.0.1:10001), db (127.0.0.2:10002), payments:9000`},

		{service, "web", "web http, twin 10.0.0.2:80, twin 10.0.0.2:81"},
		{service, "web-admin", "web admin"},
		{service, "payments", "pay main"},
		{service, "pay-display", "pay main"},
		{service, "web-admim", `error: did you mean "web-admin"?`},

		{client, "spiffe://default/web", "spiffe://default/web"},
		{client, "web", "kuma.io/service=web version=v1"},
		{client, "svc/web", "error: are different clients; give one of them, such as web or a/twin"},
		{client, "svc/web-admin", "kuma.io/service=web version=v1"},
	} {
		got, err := c.look(c.name)
		failure, fails := strings.CutPrefix(c.want, "error: ")
		switch text := strings.TrimSpace(fmt.Sprint(got)); {
		case !fails && (err != nil || text != c.want):
			t.Errorf("%s: got %q and the error %v, want %q", c.name, text, err, c.want)
		case fails && (err == nil || !strings.Contains(err.Error(), failure)):
			t.Errorf("%s: the error is %v, want %q", c.name, err, failure)
		}
		if err != nil && !errors.Is(err, find.ErrNotFound) {
			t.Errorf("%s: the error is no ErrNotFound: %v", c.name, err)
		}
	}
	if names := find.OutboundNames(view, web); !slices.Equal(names, []string{"api_shop_svc_80", "db", "payments:9000"}) {
		t.Errorf("the outbounds are %q", names)
	}
	// Each name that is printed finds what it names.
	for i, name := range find.OutboundNames(view, web) {
		if at, err := find.Outbound(view, web, name); err != nil || at != i {
			t.Errorf("%s is outbound %d (%v), want %d", name, at, err, i)
		}
	}
	for i := range twin.Inbounds {
		if at, err := find.Point(view, twin, find.InboundName(twin, i)); err != nil || at != i {
			t.Errorf("%s is inbound %d (%v), want %d", find.InboundName(twin, i), at, err, i)
		}
	}
	if names := find.ServiceNames(view, "default"); !slices.Equal(names, []string{"pay-display", "web", "web-admin"}) {
		t.Errorf("the services are %q", names)
	}
}

// A port finds the inbound whose listener or, behind a transparent proxy, whose workload has it.
func TestPort(t *testing.T) {
	view := shopView(t)
	for _, c := range []struct {
		dataplane string
		port      uint32
		inbound   int
		declared  bool
		fails     bool
	}{
		{"web", 80, 0, true, false},
		{"web", 81, 1, true, false},
		{"web", 8080, 0, false, true}, // without a transparent proxy, nothing redirects it
		{"twin", 81, 1, true, false},
		{"twin", 7, 0, false, false}, // redirected, and declared by no inbound
	} {
		d, err := find.Dataplane(view, "default", find.Name{Name: c.dataplane})
		if err != nil {
			t.Fatal(err)
		}
		inbound, declared, err := find.Port(d, c.port)
		if inbound != c.inbound || declared != c.declared || (err != nil) != c.fails || err != nil && !errors.Is(err, find.ErrNotFound) {
			t.Errorf("%s %d: inbound %d, declared %v, error %v", c.dataplane, c.port, inbound, declared, err)
		}
	}
}

// A selector has labels and tags; the tags are those of one inbound (SPEC 10).
func TestSelection(t *testing.T) {
	view := shopView(t)
	for text, want := range map[string]string{
		"app=web":                               "web",
		"app=*":                                 "pay web",
		"kuma.io/service=web":                   "web twin",
		"version=v1,app=web":                    "web",
		"version=v1, kuma.io/service=web-admin": "", // of two inbounds
		"kuma.io/service=web,kuma.io/service=web": "web twin",
		"kuma.io/service==web-admin":              "web",
		"app=web,version=v2":                      "",
	} {
		selection, err := find.ParseSelection(text)
		if err != nil {
			t.Fatal(err)
		}
		selected, err := find.SelectDataplanes(view, "default", selection, nil)
		var names []string
		for _, d := range selected {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != want || (want == "") != errors.Is(err, find.ErrNotFound) {
			t.Errorf("%s selects %q (%v), want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "app", "=web", "app=web,", "a=b,c"} {
		if _, err := find.ParseSelection(text); !errors.Is(err, find.ErrUsage) {
			t.Errorf("%q is a selector: %v", text, err)
		}
	}
}

// A kind is found by its name, its plural or its short name, in any letter case.
func TestKind(t *testing.T) {
	for word, want := range map[string]string{
		"MeshTimeout": "MeshTimeout", "meshtimeouts": "MeshTimeout", "mt": "MeshTimeout", "MT": "MeshTimeout",
		"meshretries": "MeshRetry", "MeshTimeot": "",
	} {
		kind, err := find.Kind(kinds.All(), word)
		switch {
		case want == "" && (!errors.Is(err, find.ErrUsage) || !strings.Contains(err.Error(), `did you mean "MeshTimeout"?`)):
			t.Errorf("%s: %v", word, err)
		case want != "" && (err != nil || kind.Name != want):
			t.Errorf("%s is %v (%v), want %s", word, kind, err, want)
		}
	}
	for word, want := range map[string]string{"dataplanes": "Dataplane", "meshservice": "MeshService", "mesh": "Mesh", "meshidentities": "MeshIdentity"} {
		if name, err := find.ResourceKind(kinds.All(), nil, word); err != nil || name != want {
			t.Errorf("%s is %q (%v), want %s", word, name, err, want)
		}
	}
	p, err := find.Policy(shopView(t), "default", "MeshTimeout", find.Name{Name: "slow"})
	if err != nil || p.Name != "slow" {
		t.Errorf("the policy is %v (%v)", p, err)
	}
}
