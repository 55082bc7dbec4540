package world

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// exported returns 30 objects in the form of `kubectl get -A -o yaml`: dataplanes and
// their services, and policies for each service.
func exported() []byte {
	const each = 10
	var b strings.Builder
	item := func(kind, name, rest string) {
		fmt.Fprintf(&b, `- apiVersion: kuma.io/v1alpha1
  kind: %s
  metadata:
    creationTimestamp: "2026-01-02T03:04:05Z"
    generation: 3
    labels:
      k8s.kuma.io/namespace: shop
      kuma.io/mesh: default
      kuma.io/origin: zone
      kuma.io/zone: east
    name: %s
    namespace: shop
    resourceVersion: "123456"
    uid: 5f2f8f9e-4d3e-4f6a-9d5e-0123456789ab
%s`, kind, name, rest)
	}
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range each {
		service := shape.Service(i)
		item("Dataplane", "pod-"+service, fmt.Sprintf(`  mesh: default
  spec:
    networking:
      address: 10.0.0.%d
      inbound:
      - health:
          ready: true
        port: 8080
        tags:
          kuma.io/protocol: http
          kuma.io/service: %s_shop_svc_80
      transparentProxying:
        redirectPortInbound: 15006
        redirectPortOutbound: 15001
`, i+1, service))
		item("MeshService", service, fmt.Sprintf(`  spec:
    ports:
    - appProtocol: http
      name: main
      port: 80
      targetPort: 8080
    selector:
      dataplaneTags:
        kuma.io/service: %s_shop_svc_80
    state: Available
  status:
    addresses:
    - hostname: %s.shop.svc.mesh.local
      hostnameGeneratorRef:
        coreName: local-mesh-service
      origin: HostnameGenerator
    vips:
    - ip: 241.0.0.%d
`, service, service, i+1))
		item(measuredKind, "to-"+service, fmt.Sprintf(`  spec:
    targetRef:
      kind: Mesh
    to:
    - default:
        connectionTimeout: %ds
        http:
          requestTimeout: 15s
      targetRef:
        kind: MeshService
        name: %s
        sectionName: main
`, i+1, service))
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return []byte(b.String())
}

// export measures the first answer about an export.
func (w *world) export(ctx context.Context, r *Destinations) error {
	text := exported()
	times := make([]time.Duration, w.Samples)
	for i := range times {
		start := time.Now()
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(ctx, resource.Input{Name: "export.yaml", Data: text})
		if err != nil {
			return err
		}
		view, err := core.Options{Semantics: semantics.Kuma}.NewView(ctx, loader.Kinds, set)
		if err != nil {
			return err
		}
		d := view.Dataplanes(shape.Mesh)[0]
		outbounds := view.DestinationOutbounds(d)
		configs := view.DestinationConfs(d, measuredKind, core.Enforced).All(outbounds)
		times[i] = time.Since(start)
		if len(configs) != 10 || configs[0].Effective == nil {
			return fmt.Errorf("the export has %d outbounds, or no conf", len(configs))
		}
	}
	r.Export = percentile(times, 50)
	return nil
}
