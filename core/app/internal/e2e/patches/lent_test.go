package patches

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// lent are modifications by which other machines would call as the proxy that has ADDR and PORT,
// or as the caller of an external service. The clusters are mostly those that no patch changes.
var lent = []struct {
	name          string
	opens         bool
	modifications string
}{
	{"an added listener to a service of the mesh", true, `
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: 0.0.0.0, port_value: PORT}}, filter_chains: [{filters: [` + proxyTo("default/NAME") + `]}]}'}`},
	{"a moved outbound", true, `
- listener: {operation: Patch, match: {name: outbound/ADDR/10070}, jsonPatches: [{op: replace, path: /address, value: {socketAddress: {address: 0.0.0.0, portValue: PORT}}}]}`},
	{"an added cluster to the inbound", true, `
- cluster: {operation: Add, value: '{name: mine-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: x, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ADDR, port_value: 10000}}}}]}]}, transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {tls_params: {tls_maximum_protocol_version: TLSv1_3}, tls_certificates: [{certificate_chain: {filename: DIR/NAME.pem}, private_key: {filename: DIR/NAME.key}}]}}}}'}
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: 0.0.0.0, port_value: PORT}}, filter_chains: [{filters: [` + proxyTo("mine-ADDR") + `]}]}'}`},
	{"a listener that leads to a moved outbound on loopback", true, `
- cluster: {operation: Add, value: '{name: mine-ADDR, connect_timeout: 1s, type: STATIC, load_assignment: {cluster_name: x, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ADDR, port_value: 10070}}}}]}]}}'}
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: 0.0.0.0, port_value: PORT}}, filter_chains: [{filters: [` + proxyTo("mine-ADDR") + `]}]}'}`},
	{"a moved outbound of an external service at the workload", true, `
- listener: {operation: Patch, match: {name: outbound/ADDR/10071}, jsonPatches: [{op: replace, path: /address, value: {socketAddress: {address: 0.0.0.0, portValue: PORT}}}]}`},
	{"an added listener to an external service at the workload", true, `
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: 0.0.0.0, port_value: PORT}}, filter_chains: [{filters: [` + proxyTo("kri_extsvc_default___x-NAME_80") + `]}]}'}`},
	{"a limit of a cluster that presents a certificate", false, `
- cluster: {operation: Patch, match: {name: default/NAME}, value: "{circuit_breakers: {thresholds: [{max_connections: 50}]}}"}`},
	{"a listener for the workload", false, `
- listener: {operation: Add, value: '{name: mine-ADDR, address: {socket_address: {address: 127.0.0.1, port_value: PORT}}, filter_chains: [{filters: [` + proxyTo("default/NAME") + `]}]}'}`},
}

const lentPermissions = `
type: MeshTrafficPermission
mesh: default
name: the-mesh
spec:
  rules:
  - default:
      allow: [{spiffeId: {type: Prefix, value: spiffe://default.mesh.local/}}]
---
type: MeshIdentity
mesh: default
name: files
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/{{ .Name }}"}
  provider:
    type: Extension
    extension: {name: files, config: {certificate: "DIR/{{ .Name }}.pem", privateKey: "DIR/{{ .Name }}.key", trustBundle: DIR/ca.pem}}
`

const lentDataplane = `---
type: Dataplane
mesh: default
name: NAME
networking:
  address: ADDR
  inbound:
  - {port: 10000, serviceAddress: ADDR, servicePort: 10080, protocol: http, tags: {kuma.io/service: NAME}}
  outbound:
  - {port: 10070, address: ADDR, tags: {kuma.io/service: NAME}}
  - {port: 10071, address: ADDR, backendRef: {kind: MeshExternalService, name: x-NAME, port: 80}}
---
type: MeshExternalService
mesh: default
name: x-NAME
spec:
  match: {type: HostnameGenerator, port: 80, protocol: http}
  endpoints: [{address: ADDR, port: 10080}]
---
type: MeshProxyPatch
mesh: default
name: p-NAME
spec:
  targetRef: {kind: MeshService, name: NAME}
  default:
    appendModifications:`

// TestLent asks, without a certificate, an inbound that allows the SPIFFE IDs of the mesh. A
// listener that opens it must be refused.
func TestLent(t *testing.T) {
	envoytest.Path(t)
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{network: network}
	w.open = append(w.open, network)
	t.Cleanup(w.close)
	authority, dir := envoytest.NewAuthority(t), t.TempDir()
	var list []*patched
	var ports []string
	mesh := strings.ReplaceAll(lentPermissions, "DIR", dir)
	for i, l := range lent {
		name := fmt.Sprintf("d%d", i)
		authority.WriteFiles(t, dir, name, "spiffe://default.mesh.local/"+name)
		p := &patched{title: l.name, opens: l.opens, address: network.Replace(fmt.Sprintf("127.0.0.%d", i+1))}
		list, ports = append(list, p), append(ports, freePort(t))
		text := lentDataplane + strings.ReplaceAll(l.modifications, "\n", "\n    ") + "\n"
		mesh += strings.NewReplacer("NAME", name, "ADDR", p.address, "PORT", ports[i], "DIR", dir).Replace(text)
		w.startWorkload(t, p)
	}
	view := coretest.View(t, mesh)
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
	for i, p := range list {
		p.snapshot = state.SnapshotFor(view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: fmt.Sprintf("d%d", i)}), envoytest.Client(t))
		p.refused = p.snapshot.Refused()
	}
	for i, p := range list {
		b, err := bootstrap.Static(p.snapshot, bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")})
		if err != nil {
			t.Fatal(err)
		}
		data, err := message.JSON(b)
		if err != nil {
			t.Fatal(err)
		}
		envoytest.Start(t, "envoy", data)
		answer := send(p.address+":"+ports[i], "GET /private HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
		switch {
		case p.opens && !isAnswer(answer):
			t.Errorf("%s: it opens nothing: %q", p.title, answer)
		case !p.opens && isAnswer(answer):
			t.Errorf("%s: it opens the workload: %q", p.title, answer)
		case p.opens && len(p.refused) == 0:
			t.Errorf("%s: it is not refused, and opens the workload", p.title)
		case !p.opens && len(p.refused) > 0:
			t.Errorf("%s: it is refused: %v", p.title, p.refused)
		}
	}
}

// freePort returns a port that no address uses at the moment.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
