package snapshot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkIstioShapes makes all resources of one sidecar from nothing, for meshes of the shapes
// of istio/istio pilot/pkg/xds/bench_test.go at 2afbddce812a. They are told in this mesh's
// resources: a VirtualService is a MeshHTTPRoute, an AuthorizationPolicy a
// MeshTrafficPermission, TLS of services a MeshIdentity. As there, kb/msg is the size of the
// resources, and nothing is kept of earlier operations.
func BenchmarkIstioShapes(b *testing.B) {
	for _, s := range istioShapes {
		b.Run("shape="+s.name, func(b *testing.B) {
			engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
			set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(b.Context(), resource.Input{Name: "istio.yaml", Data: []byte(s.text())})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := engine.Apply(b.Context(), core.Batch{Upsert: set}); err != nil {
				b.Fatal(err)
			}
			sidecar := engine.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: shape.Mesh, Name: "v0"})
			bytes, resources := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(engine.View())
				made := state.Snapshot(sidecar, xds.Envoy)
				bytes, resources = 0, 0
				for t := range wire.Type(wire.NumTypes) {
					for _, r := range made.Resources(t) {
						resources++
						bytes += r.Size()
					}
				}
			}
			if want := 3 * s.services; resources < want {
				b.Fatalf("%d resources, want at least %d", resources, want)
			}
			b.ReportMetric(float64(bytes)/1000, "kb/msg")
			b.ReportMetric(float64(resources), "resources/msg")
		})
	}
}

type istioShape struct {
	name      string
	services  int
	endpoints int // of each service
	each      func(i int) string
	mesh      string
}

var istioShapes = []istioShape{
	{name: "empty", services: 100, endpoints: 1},
	{name: "virtualservice", services: 100, endpoints: 1, each: func(i int) string {
		return fmt.Sprintf(`
type: MeshHTTPRoute
name: vs-%d
spec:
  targetRef: {kind: Mesh}
  to:
  - targetRef: {kind: MeshService, name: service-%[1]d}
    rules:
    - matches: [{path: {type: PathPrefix, value: /foo}}, {path: {type: RegularExpression, value: /bar}}]
      default:
        filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /new-url}}}]
        backendRefs: [{kind: MeshService, name: service-%[1]d, weight: 1}]
`, i)
	}},
	{name: "authorizationpolicy", services: 100, endpoints: 1, mesh: istioIdentity, each: func(i int) string {
		return fmt.Sprintf(`
type: MeshTrafficPermission
name: authn-%d
spec:
  targetRef: {kind: Mesh}
  rules: [{default: {deny: [{spiffeID: {type: Prefix, value: "spiffe://default.mesh.local/ns/default/sa/client-%[1]d/"}}]}}]
`, i)
	}},
	{name: "tls", services: 100, endpoints: 1, mesh: istioIdentity},
	{name: "endpoints-1-100", services: 100, endpoints: 1},
	{name: "endpoints-10-10", services: 10, endpoints: 10},
	{name: "endpoints-100-10", services: 10, endpoints: 100},
	{name: "endpoints-1000-1", services: 1, endpoints: 1000},
}

const istioIdentity = `
type: MeshIdentity
name: identity
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/ns/default/sa/{{ label \"app\" }}"}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
`

// text returns the mesh as YAML.
func (s *istioShape) text() string {
	var documents []string
	outbounds := new(strings.Builder)
	for i := range s.services {
		fmt.Fprintf(outbounds, "    - {port: %d, address: 127.0.0.1, tags: {kuma.io/service: service-%d}}\n", 10000+i, i)
		for e := range s.endpoints {
			documents = append(documents, fmt.Sprintf(`
type: Dataplane
name: service-%d-%d
labels: {app: service-%[1]d}
networking:
  address: 10.%[3]d.%d.%d
  inbound: [{port: 80, tags: {kuma.io/service: service-%[1]d, kuma.io/protocol: http, kuma.io/zone: network-%[6]d}}]
`, i, e, i, e/256, e%256, e%4))
		}
		if s.each != nil {
			documents = append(documents, s.each(i))
		}
	}
	documents = append(documents, `
type: Dataplane
name: v0
labels: {app: v0}
networking:
  address: 192.168.1.1
  inbound: [{port: 80, tags: {kuma.io/service: proxy-service-instance, kuma.io/protocol: http}}]
  outbound:
`+outbounds.String())
	if s.mesh != "" {
		documents = append(documents, s.mesh)
	}
	text := new(strings.Builder)
	for _, d := range documents {
		fmt.Fprintf(text, "---\nmesh: %s%s", shape.Mesh, d)
	}
	return text.String()
}
