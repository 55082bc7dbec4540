package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// listensAt returns the addresses of the listeners of a snapshot, by name.
func listensAt(t *testing.T, s *snapshot.Snapshot) map[string][]string {
	at := map[string][]string{}
	for _, r := range s.Resources(wire.ListenerType) {
		l := new(listenerv3.Listener)
		if err := proto.Unmarshal(r.Body, l); err != nil {
			t.Fatal(err)
		}
		addresses := []*corev3.Address{l.Address}
		for _, a := range l.AdditionalAddresses {
			addresses = append(addresses, a.Address)
		}
		for _, a := range addresses {
			at[l.Name] = append(at[l.Name], fmt.Sprintf("%s:%d", a.GetSocketAddress().Address, a.GetSocketAddress().GetPortValue()))
		}
	}
	return at
}

// The inbound of a transparent proxy has the port of the workload at the addresses of the
// dataplane, but at no other address: the workload's own connections to that port of other
// dataplanes are not for it. Envoy refuses two listeners at one address.
func TestPortsOfWorkloads(t *testing.T) {
	const redirected = "transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}"
	for _, c := range []struct {
		name, networking, more string
		want                   []string
		semantics              semantics.Semantics
	}{
		{"another port", "inbound: [{port: 80, servicePort: 8080, tags: {kuma.io/service: web}}]", "", []string{"10.0.0.1:80", "10.0.0.1:8080"}, semantics.Kuma},
		{"the same port", "inbound: [{port: 80, tags: {kuma.io/service: web}}]", "", []string{"10.0.0.1:80"}, semantics.Kuma},
		{"other addresses", "inbound: [{port: 80, address: 10.0.0.2, servicePort: 8080, serviceAddress: 10.0.0.3, tags: {kuma.io/service: web}}]", "",
			[]string{"10.0.0.2:80", "10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080"}, semantics.Kuma},
		{"the port of another inbound", "inbound: [{port: 80, servicePort: 81, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: web}}]", "", []string{"10.0.0.1:80"}, semantics.Kuma},
		{"the port of a listed outbound", "inbound: [{port: 80, servicePort: 8080, tags: {kuma.io/service: web}}], outbound: [{address: 10.0.0.1, port: 8080, tags: {kuma.io/service: api}}]", "", []string{"10.0.0.1:80"}, semantics.TargetRef},
		{"the port of a listed outbound without a listener", "inbound: [{port: 80, servicePort: 8080, tags: {kuma.io/service: web}}], outbound: [{address: 10.0.0.1, port: 8080, tags: {kuma.io/service: api}}]", "", []string{"10.0.0.1:80", "10.0.0.1:8080"}, semantics.Kuma},
		{"the port of a virtual outbound", "inbound: [{port: 80, servicePort: 8080, tags: {kuma.io/service: web}}]",
			"---\n{type: MeshService, name: pod, spec: {ports: [{port: 8080}]}, status: {vips: [{ip: 10.0.0.1}]}}", []string{"10.0.0.1:80"}, semantics.Kuma},
	} {
		at := listensAt(t, web(follow(t, c.semantics).apply(fmt.Sprintf("{type: Dataplane, name: web, networking: {address: 10.0.0.1, %s, %s}}\n%s", c.networking, redirected, c.more))))
		var all []string
		for _, addresses := range at {
			all = append(all, addresses...)
		}
		slices.Sort(all)
		if distinct := slices.Compact(slices.Clone(all)); len(distinct) != len(all) {
			t.Errorf("%s: two listeners have one address: %q", c.name, all)
		}
		inbound := "inbound/" + c.want[0][:len(c.want[0])-3] + "/80"
		if got := at[inbound]; !slices.Equal(got, c.want) {
			t.Errorf("%s: the inbound is at %q, want %q", c.name, got, c.want)
		}
	}
}
