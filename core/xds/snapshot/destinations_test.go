package snapshot_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// follower is an engine, and a builder that has followed its changes.
type follower struct {
	t       *testing.T
	engine  *core.Engine
	builder *snapshot.Builder
}

func follow(t *testing.T, s semantics.Semantics) *follower {
	if s == 0 {
		s = semantics.TargetRef
	}
	return &follower{t, core.NewEngine(kinds.All(), core.Options{Semantics: s}), snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})}
}

func (f *follower) apply(text string, remove ...resource.ID) *snapshot.State {
	f.t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(f.t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err == nil {
		_, err = f.engine.Apply(f.t.Context(), core.Batch{Upsert: set, Delete: remove})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return f.builder.At(f.engine.View())
}

// web returns the snapshot of the dataplane web.
func web(s *snapshot.State) *snapshot.Snapshot {
	return s.Snapshot(s.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"}), xds.Envoy)
}

// A builder answers as a new one does after random changes of dataplanes and of the
// destinations that are resources.
func TestBuilderFollowsDestinations(t *testing.T) {
	bundles := []string{envoytest.NewAuthority(t).Bundle(), envoytest.NewAuthority(t).Bundle()}
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 17))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		some := func(text string) string { return pick(text, "") }
		f := follow(t, []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}[seed%3])
		for step := range 40 {
			name := fmt.Sprint("x", random.IntN(3))
			var text string
			var remove []resource.ID
			switch random.IntN(24) {
			case 0, 1, 2:
				text = fmt.Sprintf("{type: Dataplane, name: %s, labels: {app: %s%s}, networking: {address: 10.0.0.%d, inbound: [{port: %s, name: %s, protocol: http%s, tags: {kuma.io/service: %s, v: %s}}]}}",
					name, pick("a", "b"), some(", kuma.io/zone: "+pick("east", "west")), random.IntN(4)+1, pick("80", "81"), pick("main", "other"), some(", state: NotReady"), pick("a", "b"), pick("a", "b"))
			case 3, 4:
				text = fmt.Sprintf("{type: MeshService, name: %s, labels: {team: %s%s}, spec: {selector: {%s}, ports: [{port: %s, targetPort: %s, appProtocol: %s}], identities: [%s], state: %s}, status: {vips: [{ip: 241.0.0.%d}], tls: {status: %s}}}",
					name, pick("a", "b"), some(", kuma.io/zone: "+pick("east", "west")),
					pick("dataplaneTags: {kuma.io/service: a}", "dataplaneTags: {v: b}", "dataplaneRef: {name: x1}", "dataplaneLabels: {matchLabels: {app: a}}", "dataplaneLabels: {matchLabels: {kuma.io/display-name: x2}}", "dataplaneLabels: {}", ""),
					pick("80", "90"), pick("80", "81", "main", "other"), pick("http", "tcp", "grpc"), some("{type: SpiffeID, value: spiffe://a/b}"), pick("Available", "Unavailable"), random.IntN(3), pick("Ready", "NotReady"))
			case 5:
				text = "{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {" + some("app: a") + "}}}, provider: {type: Spire, spire: {}}}}"
			case 6, 21, 22, 23:
				text = fmt.Sprintf("{type: MeshTimeout, name: %s, spec: {to: [{targetRef: {kind: MeshService, %s}, default: {connectionTimeout: %ss}}]}}",
					pick("t", "u"), pick("labels: {team: a}", "labels: {team: b}", "name: x0", "name: x1", "name: x2"), pick("1", "2"))
			case 8:
				text = fmt.Sprintf("{type: MeshExternalService, name: %s, labels: {team: %s}, spec: {match: {port: 80, protocol: %s}, endpoints: [{address: %s, port: 1}%s], tls: {enabled: %v, verification: {caCert: %s}}}, status: {vip: {ip: 242.0.0.%d}}}",
					name, pick("a", "b"), pick("http", "tcp"), pick("192.0.2.1", "a.example"), some(", {address: 192.0.2.2, port: 2, priority: 1}"), random.IntN(2) == 0, pick("{secret: ca}", "{type: Secret, secretRef: {kind: Secret, name: other}}"), random.IntN(3))
			case 10, 11:
				text = fmt.Sprintf("{type: MeshMultiZoneService, name: %s, labels: {team: %s}, spec: {selector: {meshService: {matchLabels: {team: %s}}}, ports: [{port: %s, appProtocol: %s}]}, status: {vips: [{ip: 243.0.0.%d}]%s}}",
					name, pick("a", "b"), pick("a", "b"), pick("80", "90"), pick("http", "tcp"), random.IntN(3), some(", meshServices: [{name: x1, zone: east}, {name: x2}]"))
			case 12, 13:
				text = fmt.Sprintf("{type: %s, name: r, spec: {to: [{targetRef: {kind: MeshService, name: a}, rules: [{%sdefault: {backendRefs: [{kind: %s, labels: {team: %s}, port: %s}, {kind: MeshService, name: b, port: 80}]}}]}]}}",
					"MeshTCPRoute", "", pick("MeshService", "MeshExternalService", "MeshMultiZoneService"), pick("a", "b"), pick("80", "90"))
			case 14:
				text = fmt.Sprintf("{type: MeshZoneAddress, name: %s, labels: {kuma.io/zone: %s}, spec: {address: %s, port: %d}}", name, pick("east", "west"), pick("10.1.0.1", "zone.example"), random.IntN(2)+1)
			case 15:
				text = fmt.Sprintf("{type: ZoneIngress, name: %s, zone: %s, networking: {port: 1, advertisedAddress: 10.2.0.%d, advertisedPort: 10001}}", name, pick("east", "west"), random.IntN(2))
			case 16:
				text = fmt.Sprintf("{type: ZoneEgress, name: %s, zone: %s, networking: {address: 10.3.0.%d, port: 10002}}", name, pick("east", "west"), random.IntN(2))
			case 17:
				text = fmt.Sprintf("{type: Dataplane, name: proxy, labels: {app: %s, kuma.io/zone: %s}, networking: {address: 10.0.0.%d, listeners: [{address: 10.0.0.7, type: %s, port: 10001}%s]}}", pick("a", "b"), pick("east", "west"), random.IntN(2), pick("ZoneIngress", "ZoneEgress"), some(", {address: 10.0.0.8, type: ZoneEgress, port: 10002, name: out, state: "+pick("Ready", "NotReady")+"}"))
			case 18:
				text = fmt.Sprintf("{type: Dataplane, name: both, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.%d, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: both}}], listeners: [{address: 10.0.0.8, type: ZoneEgress, port: 10003, name: out}]}}\n---\n{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, sectionName: %s}, rules: [{default: {%s: [{spiffeId: {type: Exact, value: spiffe://a/b}}]}}]}}", random.IntN(2), pick("out", "'80'"), pick("allow", "deny"))
			case 19, 20:
				text = fmt.Sprintf("{type: Secret, name: %s, data: %s}", pick("ca", "other"), base64.StdEncoding.EncodeToString([]byte(pick("none", bundles[0], bundles[1]))))
			case 9:
				enabled := some("ca") // Kuma refuses an egress without mtls
				text = fmt.Sprintf("{type: Mesh, name: default, mtls: {enabledBackend: %q, backends: [{name: ca, type: builtin}]}, routing: {zoneEgress: %v, defaultForbidMeshExternalServiceAccess: %v}}", enabled, random.IntN(2) == 0 && enabled != "", random.IntN(3) == 0)
			case 7:
				if id := (resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name}); f.engine.View().Dataplane(id) != nil {
					remove = append(remove, id)
				}
				for _, kind := range []string{resource.MeshServiceKind, resource.MeshZoneAddressKind, resource.ZoneIngressKind, resource.ZoneEgressKind} {
					id := resource.ID{Kind: kind, Mesh: "default", Name: name}
					if resource.IsGlobal(kind) {
						id.Mesh = ""
					}
					if f.engine.View().Object(id) != nil {
						remove = append(remove, id)
					}
				}
			}
			if step == 0 {
				text = `
{type: Dataplane, name: web, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.9, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: lists, networking: {address: 10.0.0.8, outbound: [{port: 1, backendRef: {kind: MeshService, labels: {team: a}, port: 80}}, {port: 2, tags: {kuma.io/service: a}}]}}`
				for i := range 3 { // they keep their outbounds while other destinations come and go
					text += fmt.Sprintf("\n---\n{type: Dataplane, name: lists-%d, networking: {address: 10.0.0.8, outbound: [{port: 1, backendRef: {kind: MeshService, name: x%d, port: 80}}]}}", i, i)
				}
			}
			state := f.apply(text, remove...)
			want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(f.engine.View()))
			if diff := cmp.Diff(want, answersOf(state)); diff != "" {
				t.Fatalf("seed %d, step %d, after %s %v: -a new builder +this one:\n%s", seed, step, text, remove, diff)
			}
		}
	}
}

const transparent = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: other, networking: {address: 10.0.0.2, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: api-1, labels: {app: api}, networking: {address: 10.0.0.3, inbound: [{port: 80, name: main, protocol: http, tags: {kuma.io/service: api}}]}}
---
{type: MeshService, name: api, spec: {selector: {dataplaneLabels: {matchLabels: {app: api}}}, ports: [{port: 8080, targetPort: main, appProtocol: http}]}, status: {vips: [{ip: 241.0.0.1}]}}
---
{type: MeshService, name: db, spec: {selector: {dataplaneLabels: {matchLabels: {app: db}}}, ports: [{port: 5432}]}, status: {vips: [{ip: 241.0.0.2}]}}
---
{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {connectionTimeout: 3s}}]}}
`

// An endpoint that comes or goes changes the endpoints of its MeshServices, and nothing
// else. Dataplanes share what they have in common.
func TestEndpointsOfMeshServices(t *testing.T) {
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		f := follow(t, s)
		state := f.apply(transparent)
		first := web(state)
		other := state.Snapshot(state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "other"}), xds.Envoy)
		second := web(f.apply("{type: Dataplane, name: api-2, labels: {app: api}, networking: {address: 10.0.0.4, inbound: [{port: 81, name: main, tags: {kuma.io/service: api}}]}}"))
		none := "" // closes the port of the workload where permissions are applied
		if s == semantics.TargetRef {
			none = "none "
		}
		if got := fmt.Sprint(names(first, wire.ClusterType)); got != "[kri_msvc_default___api_8080 kri_msvc_default___db_5432 local/10.0.0.1/80 "+none+"passthrough/inbound passthrough/outbound]" {
			t.Errorf("%s: the clusters are %s", s, got)
		}
		for kind := range wire.Type(wire.NumTypes) {
			for i, r := range first.Resources(kind) {
				changed := second.Resources(kind)[i] != r
				if want := kind == wire.EndpointType && r.Name == "kri_msvc_default___api_8080"; changed != want {
					t.Errorf("%s: %s %s changed: %v, want %v", s, kind, r.Name, changed, want)
				}
				if shared := i < len(other.Resources(kind)) && other.Resources(kind)[i] == r; (kind == wire.ClusterType || kind == wire.EndpointType) && r.Name[0] == 'k' && !shared {
					t.Errorf("%s: %s %s is not shared", s, kind, r.Name)
				}
			}
		}
		third := web(f.apply("{type: Dataplane, name: unrelated, labels: {app: none}, networking: {address: 10.0.0.5, inbound: [{port: 81, tags: {kuma.io/service: none}}]}}"))
		if third != second {
			t.Errorf("%s: an unrelated dataplane changed the snapshot", s)
		}
		fourth := web(f.apply("{type: MeshService, name: unreachable, spec: {ports: [{port: 80}]}}"))
		if fourth != third {
			t.Errorf("%s: a MeshService without a virtual address changed the snapshot", s)
		}
	}
}

func names(s *snapshot.Snapshot, kind wire.Type) (list []string) {
	for _, r := range s.Resources(kind) {
		list = append(list, r.Name)
	}
	return list
}

// A proxy with an identity never calls a MeshService by TLS without SPIFFE IDs that it
// verifies, in any semantics and whichever identities there are.
func TestMeshServicesAreVerified(t *testing.T) {
	const mesh = `
{type: Dataplane, name: web, labels: {has: identity}, networking: {address: 10.0.0.1, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {has: identity}}}, provider: {type: Spire, spire: {}}}}
---
{type: Dataplane, name: api, labels: {app: api, %s}, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}
---
{type: MeshService, name: api, spec: {selector: {dataplaneLabels: {matchLabels: {app: api}}}, ports: [{port: 80}], identities: [%s]}, status: {vips: [{ip: 241.0.0.1}], tls: {status: %s}}}
`
	for _, s := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		for _, labels := range []string{"", "has: identity"} {
			for _, identities := range []string{"", "{type: SpiffeID, value: spiffe://a/b}", "{type: ServiceTag, value: api}"} {
				for _, ready := range []string{"Ready", "NotReady"} {
					snapshot := web(follow(t, s).apply(fmt.Sprintf(mesh, labels, identities, ready)))
					called, refused := 0, 0
					for _, r := range snapshot.Resources(wire.ClusterType) {
						c := new(clusterv3.Cluster)
						if err := proto.Unmarshal(r.Body, c); err != nil {
							t.Fatal(err)
						}
						sockets := []*corev3.TransportSocket{c.TransportSocket}
						for _, m := range c.TransportSocketMatches {
							sockets = append(sockets, m.TransportSocket)
						}
						for _, socket := range sockets {
							if socket == nil {
								continue
							}
							called++
							m := new(tlsv3.UpstreamTlsContext)
							if err := socket.GetTypedConfig().UnmarshalTo(m); err != nil {
								t.Fatal(err)
							}
							names := m.CommonTlsContext.GetCombinedValidationContext().DefaultValidationContext.MatchTypedSubjectAltNames
							if len(names) == 0 {
								t.Errorf("%s, labels %q, identities %q, %s: %s accepts every certificate", s, labels, identities, ready, r.Name)
							}
							for _, name := range names {
								if !strings.HasPrefix(name.Matcher.GetExact(), "spiffe://") {
									refused++
								}
							}
						}
					}
					tls := s == semantics.TargetRef && labels != "" || s == semantics.Kuma || s == semantics.Kuma3 && ready == "Ready"
					known := labels != "" || strings.Contains(identities, "SpiffeID") || s == semantics.Kuma && identities != ""
					if (called == 1) != tls || (refused == 1) != (tls && !known) {
						t.Errorf("%s, labels %q, identities %q, %s: called by TLS %d times, want %v; refused %d times, want %v", s, labels, identities, ready, called, tls, refused, tls && !known)
					}
					warned := slices.ContainsFunc(snapshot.Warnings(), func(w xds.Warning) bool { return strings.Contains(w.Message, "every connection by TLS fails") })
					if warned != (tls && !known) {
						t.Errorf("%s, labels %q, identities %q, %s: warned: %v", s, labels, identities, ready, warned)
					}
				}
			}
		}
	}
}
