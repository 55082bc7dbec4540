package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
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
}

// The answer of `access` about a request is what Envoy does, with TLS and without, beside gateways
// (SPEC 13.1). The other answers about it are compared with `access` by TestSoakAnswersAgree.
func TestEnvoyDecidesAsAnswered(t *testing.T) {
	envoytest.Path(t)
	type asked struct {
		title, listener string
		view            *core.View
		inbound         int
		tls             bool
		client          *permissiontest.Client
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
			added := resourcetest.Decode(t, more)
			set.Dataplanes, set.Objects = append(set.Dataplanes, added.Dataplanes...), added.Objects
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
				for range requestsEach {
					c := permissiontest.RandomClient(r)
					seen := request.NewSeen(c.Request())
					if c.HasComma(false) || c.HasSeveralIDs() || seen.PathRefused || seen.NormalPath != c.Path || p.Clients != nil {
						continue // TestEnvoyDecidesAsAccess
					}
					requests = append(requests, asked{fmt.Sprintf("seed %d, %s, %v", seed, how, as), name, view, i, certificates, c})
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
			got, err = send(e.ports[q.listener], ca.Issue(t, q.client.Certificate(false)...), how, q.client)
		} else {
			got, err = sendPlain(e.ports[q.listener], how, q.client)
		}
		if err != nil || got.allowed != want.Decision.Allowed() {
			t.Errorf("%s, inbound %d: %+v: Envoy allows %v, %v; access: %+v", q.title, q.inbound, q.client, got.allowed, err, want.Decision)
		}
		counts[fmt.Sprint(q.tls, " ", got.allowed)]++
	}
	t.Log(counts)
	if len(counts) < 4 {
		t.Errorf("too few answers: %v", counts)
	}
}
