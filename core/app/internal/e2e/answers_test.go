package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// answerWorlds are the random meshes of TestEnvoyDecidesAsAnswered; SOAK multiplies them.
const answerWorlds = 20

// certified gives the dataplane of a mesh a SPIFFE ID and its clients any trust domain, or those
// of its own; without an object the inbounds have no TLS.
var certified = map[string]string{
	"no TLS":           "",
	"any trust domain": `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /a}, provider: {type: Spire}}}`,
	"one trust domain": `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /a}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}`,
	withTags:           `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /a}, provider: {type: Extension, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /b}}}}}`,
}

// The certificates of clients may have their tags: the server does not sign them.
const withTags = "certificates with tags"

const permissive = `{type: MeshTLS, name: permissive, spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {mode: Permissive}}]}}`

// The answer of `access` about a request is what Envoy does, with TLS, without, and with both in the
// mode Permissive, by tags and by IDs, beside gateways (SPEC 13.1). The other answers about it are compared with `access` by TestSoakAnswersAgree.
func TestEnvoyDecidesAsAnswered(t *testing.T) {
	envoytest.Path(t)
	type asked struct {
		title, listener string
		view            *core.View
		inbound         int
		tls, tags       bool
		client          *permissiontest.Call
	}
	ca, form := envoytest.NewAuthority(t), formsOf(t)[0].form
	var listeners []object
	var requests []asked
	for seed := range uint64(answerWorlds * fuzz.Soak(t)) {
		for how, identity := range certified {
			r := rand.New(rand.NewPCG(seed, 48))
			set := permissiontest.Scenario(r)
			as := core.Detect(set)
			set.Objects = nil
			more := `{type: Dataplane, name: edge, networking: {address: 127.0.0.3, gateway: {type: DELEGATED, tags: {kuma.io/service: backend}}}}`
			if identity != "" {
				more += "\n---\n" + identity
			}
			isPermissive, tags := identity != "" && seed%2 == 0, how == withTags
			if isPermissive {
				more += "\n---\n" + permissive
			}
			added := resourcetest.Decode(t, more)
			for _, p := range added.Policies {
				if as == core.Kuma {
					p.Labels = resource.NewTags(map[string]string{resource.PolicyRoleLabel: "system"})
				}
			}
			set.Dataplanes, set.Objects, set.Policies = append(set.Dataplanes, added.Dataplanes...), added.Objects, append(set.Policies, added.Policies...)
			view, err := core.Options{Semantics: as}.NewView(t.Context(), kinds.All(), set)
			if err != nil {
				t.Fatal(err)
			}
			d := view.Dataplane(set.Dataplanes[0].ID)
			if !view.PermissionsApply(d) { // no filter
				continue
			}
			for i := range d.Inbounds {
				p, certificates := inspect.FilterPermissions(view, d, i)
				name := fmt.Sprintf("a%d", len(listeners))
				filter := printed(t, p, form, name+".")
				if certificates {
					listeners = append(listeners, listenerOf(t, ca, name, p, filter, false))
				} else {
					listeners = append(listeners, plainListenerOf(name, p, filter))
				}
				if isPermissive { // the chain without TLS compares no parts of certificates
					visible := p.Reduce(func(e *permission.Entry) bool { return e.Match.SpiffeID == nil && e.Match.SNI == nil },
						func(c *permission.Client) bool { return len(c.Tags) == 0 })
					listeners = append(listeners, plainListenerOf(name+"-plain", visible, printed(t, visible, form, name+"-plain.")))
				}
				for range requestsEach {
					c := permissiontest.RandomClient(r)
					seen := request.NewSeen(c.Request())
					if c.HasComma(tags) || c.HasSeveralIDs() || seen.PathRefused || seen.NormalPath != c.Path || p.Clients != nil && !(tags && c.IsASCII(p)) {
						continue // TestEnvoyDecidesAsAccess
					}
					title := fmt.Sprintf("seed %d, %s, %v", seed, how, as)
					requests = append(requests, asked{title, name, view, i, certificates, tags, c})
					if isPermissive {
						plain := *c
						plain.URIs, plain.Tags, plain.SNI = nil, nil, ""
						requests = append(requests, asked{title + ", Permissive", name + "-plain", view, i, false, false, &plain})
					}
				}
			}
		}
	}
	e := startEnvoy(t, listeners)
	counts := map[string]int{}
	for i := range requests {
		q := &requests[i]
		d := q.view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: permissiontest.Dataplane})
		want := inspect.NewAccess(q.view, d, q.inbound, q.client.Request(), inspect.Options{})
		how := http1
		if request.ProtocolOf(d, q.inbound) == request.TCP {
			how = tcp
		}
		var got outcome
		var err error
		if q.tls {
			got, err = send(e.ports[q.listener], ca.Issue(t, q.client.Certificate(q.tags)...), how, q.client)
		} else {
			got, err = sendPlain(e.ports[q.listener], how, q.client)
		}
		if err != nil || got.allowed != want.Decision.Allowed() {
			t.Errorf("%s, inbound %d: %+v: Envoy allows %v, %v; access: %+v", q.title, q.inbound, q.client, got.allowed, err, want.Decision)
		}
		counts[fmt.Sprint(q.tls, " ", got.allowed)]++
		if q.tags {
			counts[fmt.Sprint("tags ", got.allowed)]++
		}
		if strings.HasSuffix(q.listener, "-plain") {
			counts[fmt.Sprint("Permissive ", got.allowed)]++
		}
	}
	t.Log(counts)
	if len(counts) < 8 {
		t.Errorf("too few answers: %v", counts)
	}
}
