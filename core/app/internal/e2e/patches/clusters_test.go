package patches

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/fuzz"
)

// A way is a patch that may lead clients to the workload by a cluster: how the cluster finds
// its endpoints, in which form the address is written, and how clients reach the cluster.
type way struct {
	discovery, form, port, entry string
}

var (
	discoveries = []string{
		"STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS of a file", "ORIGINAL_DST", "a DNS cluster", "a DNS cluster with the name of an aggregate",
		"a dynamic forward proxy", "an aggregate", "a proxy of its socket", "a proxy of its endpoints",
	}
	forms = []string{"ADDR", "::ffff:ADDR", "NAME", "name.", "NUMBER", "HEX"}
	// embedding are forms by which an address is reached where a network translates or tunnels them.
	embedding = []string{
		"64:ff9b::ADDR", "64:ff9b::ADDR%lo", "64:ff9b:1:7777::ADDR", "::ADDR", "::ffff:0:ADDR", "2002:HIGH:LOW::1", "2001:db8::5efe:ADDR", "2001:db8::200:5efe:ADDR",
	}
	ports   = []string{"10080", "10080", "10081", "19999"}
	entries = []string{
		"an added listener", "a moved outbound", "an additional address of the outbound", "an outbound that is removed and added",
		"an added listener with the routes of the outbound", "an added listener to the outbound's address", "an internal listener",
		"a route of the inbound", "the cluster of an inbound", "an aggregate that refers to it", "no listener",
	}
)

func (w way) String() string {
	return fmt.Sprintf("%s to %s:%s by %s", w.discovery, w.form, w.port, w.entry)
}

// randomWay returns one of all ways.
func randomWay(random *rand.Rand) way {
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	return way{pick(discoveries), pick(forms), pick(ports), pick(entries)}
}

// resolver is the field of a cluster by which Envoy asks the server of names of the test.
const resolver = `typedDnsResolverConfig: {name: envoy.network.dns_resolver.cares, typedConfig: {"@type": type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig, resolvers: [{socketAddress: {protocol: UDP, address: 127.0.0.1, portValue: NAMES}}]}}`

// host returns the host of an endpoint, for an address of IPv4.
func (w way) host(address string) string {
	ip := netip.MustParseAddr(address).As4()
	number := binary.BigEndian.Uint32(ip[:])
	return strings.NewReplacer(
		"ADDR", address, "NAME", nameOf(address), "name.", strings.ToUpper(nameOf(address))+".",
		"NUMBER", fmt.Sprint(number), "HEX", fmt.Sprintf("0x%x", number), "HIGH", fmt.Sprintf("%x", number>>16), "LOW", fmt.Sprintf("%x", uint16(number)),
	).Replace(w.form)
}

// through is a transport socket that connects to a proxy, and sends it what is not TLS as it is.
func through(fields string) string {
	return `, transportSocket: {name: envoy.transport_sockets.http_11_proxy, typedConfig: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport, ` +
		`transportSocket: {name: envoy.transport_sockets.raw_buffer, typedConfig: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer}}` + fields + `}}`
}

// cluster returns the fields of a cluster in JSON, except its name.
func (w way) cluster(name, address string) string {
	endpoints := func(address, port string) string {
		return `{clusterName: "` + name + `", endpoints: [{lbEndpoints: [{endpoint: {address: {socketAddress: {address: "` + address + `", portValue: ` + port + `}}}}]}]}`
	}
	to := `connectTimeout: 1s, loadAssignment: ` + endpoints(w.host(address), w.port)
	const dns = `, typedConfig: {"@type": type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster, ` + resolver + `}}`
	switch w.discovery {
	case "STATIC":
		return `type: STATIC, ` + to
	case "STRICT_DNS", "LOGICAL_DNS":
		return `type: ` + w.discovery + `, ` + to + `, ` + resolver
	case "EDS of a file":
		return `connectTimeout: 1s, type: EDS, edsClusterConfig: {serviceName: x, edsConfig: {pathConfigSource: {path: DIR/` + address + `-` + w.port + `.json}}}`
	case "a proxy of its socket": // it connects to the proxy in place of the endpoint
		return `connectTimeout: 1s, type: STATIC, loadAssignment: ` + endpoints(address, "19999") + through(`, defaultProxyAddress: {socketAddress: {address: "`+w.host(address)+`", portValue: `+w.port+`}}`)
	case "a proxy of its endpoints":
		return `connectTimeout: 1s, type: STATIC, loadAssignment: {clusterName: "` + name + `", endpoints: [{lbEndpoints: [{endpoint: {address: {socketAddress: {address: "` + address + `", portValue: 19999}}}, ` +
			`metadata: {typedFilterMetadata: {envoy.http11_proxy_transport_socket.proxy_address: {"@type": type.googleapis.com/envoy.config.core.v3.Address, socketAddress: {address: "` + w.host(address) + `", portValue: ` + w.port + `}}}}}]}]}` + through("")
	case "ORIGINAL_DST":
		return `connectTimeout: 1s, type: ORIGINAL_DST, lbPolicy: CLUSTER_PROVIDED, originalDstLbConfig: {useHttpHeader: true, upstreamPortOverride: ` + w.port + `}`
	case "a DNS cluster":
		return to + `, clusterType: {name: envoy.cluster.dns` + dns
	case "a DNS cluster with the name of an aggregate":
		return to + `, clusterType: {name: envoy.clusters.aggregate` + dns
	case "a dynamic forward proxy":
		return `connectTimeout: 1s, lbPolicy: CLUSTER_PROVIDED, clusterType: {name: envoy.clusters.dynamic_forward_proxy, typedConfig: {"@type": type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig, subClustersConfig: {}}}`
	default: // an aggregate of the clusters of the inbound
		return `connectTimeout: 1s, lbPolicy: CLUSTER_PROVIDED, clusterType: {name: envoy.clusters.aggregate, typedConfig: {"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: ["local/` + address + `/10000"]}}`
	}
}

// modifications returns the patch. The outbound is the one of the dataplane with the number.
func (w way) modifications(number int, address string) string {
	outbound, listener := fmt.Sprintf("default/o%d", number), fmt.Sprintf("outbound/%s/10070", address)
	added := fmt.Sprintf("added-%s", address)
	add := func(name string) string {
		return "\n- cluster: {operation: Add, value: '{name: \"" + name + "\", " + w.cluster(name, address) + "}'}"
	}
	change := func(name string) string { // all fields anew
		return "\n- cluster: {operation: Patch, match: {name: " + name + `}, jsonPatches: [{op: replace, path: "", value: {name: "` + name + `", ` + w.cluster(name, address) + "}}]}"
	}
	at := func(port string) string {
		return `{socketAddress: {address: ` + address + `, portValue: ` + port + `}}`
	}
	listen := func(filter string) string {
		return "\n- listener: {operation: Add, value: '{name: mine-" + address + ", address: " + at("10090") + ", filter_chains: [{filters: [" + filter + "]}]}'}"
	}
	move := "\n- listener: {operation: Patch, match: {name: " + listener + "}, jsonPatches: [{op: replace, path: /address, value: " + at("10090") + "}]}"
	through := fmt.Sprintf("through-%s", address)
	to := func(endpoint string) string {
		return "\n- cluster: {operation: Add, value: '{name: " + through + ", connectTimeout: 1s, type: STATIC, loadAssignment: {clusterName: x, endpoints: [{lbEndpoints: [{endpoint: {address: " + endpoint + "}}]}]}}'}"
	}
	switch w.entry {
	case "an added listener":
		return add(added) + listen(proxyTo(added))
	case "a moved outbound":
		return change(outbound) + move
	case "an additional address of the outbound":
		return "\n- listener: {operation: Patch, match: {name: " + listener + "}, jsonPatches: [{op: add, path: /additionalAddresses, value: [{address: " + at("10090") + "}]}]}" + change(outbound)
	case "an outbound that is removed and added":
		return "\n- cluster: {operation: Remove, match: {name: " + outbound + "}}" + add(outbound) + move
	case "an added listener with the routes of the outbound":
		return change(outbound) + listen(`{name: m, typed_config: {"@type": `+types+`network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: r, typed_config: {"@type": `+types+`http.router.v3.Router}}], rds: {route_config_name: "`+outbound+`", config_source: {ads: {}, resource_api_version: V3}}}}`)
	case "an added listener to the outbound's address":
		return change(outbound) + to(at("10070")) + listen(proxyTo(through))
	case "an internal listener":
		return add(added) + "\n- listener: {operation: Add, value: '{name: inner-" + address + ", internalListener: {}, filterChains: [{filters: [" + proxyTo(added) + "]}]}'}" +
			to("{envoyInternalAddress: {serverListenerName: inner-"+address+"}}") + listen(proxyTo(through))
	case "a route of the inbound":
		return add(added) + "\n- virtualHost: {operation: Patch, match: {routeConfigurationName: inbound/" + address + "/10000}, jsonPatches: [{op: add, path: /routes/0, value: {match: {path: /open}, route: {cluster: " + added + ", prefixRewrite: /private}}}]}"
	case "the cluster of an inbound":
		return change("local/" + address + "/10000")
	case "an aggregate that refers to it":
		return add(added) + "\n- cluster: {operation: Add, value: '{name: " + through + `, connectTimeout: 1s, lbPolicy: CLUSTER_PROVIDED, clusterType: {name: envoy.clusters.aggregate, typedConfig: {"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [` + added + "]}}}'}" + listen(proxyTo(through))
	default:
		return add(added)
	}
}

// TestClusters tries random ways to the workload by clusters. Each one that opens the workload
// in a real Envoy must be refused.
func TestClusters(t *testing.T) {
	envoytest.Path(t)
	random := rand.New(rand.NewPCG(48, 1))
	opened, served := map[string]int{}, 0
	for range fuzz.Soak(t) {
		var list []*patched
		for i := range 3 * proxiesEach {
			w := randomWay(random)
			if i < len(discoveries) { // each is tried by the plainest way
				w = way{discoveries[i], "ADDR", "10080", "an added listener"}
			}
			list = append(list, &patched{title: w.String(), way: &w})
		}
		w := newWorld(t, list)
		w.run(t, list)
		passedOf := w.passed(list)
		for i, p := range list {
			passed := passedOf[i]
			switch {
			case len(passed) > 0 && len(p.refused) == 0:
				t.Errorf("%s: it is not refused, and opens %q", p.title, passed)
			case len(passed) > 0:
				opened[p.way.discovery]++
				opened[p.way.entry]++
				opened[p.way.form]++
			case len(p.refused) == 0:
				served++
			}
		}
		w.close()
	}
	t.Logf("opened: %v; served: %d", opened, served)
	for _, what := range []string{"STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS of a file", "a DNS cluster", "a proxy of its socket", "a proxy of its endpoints", "NAME", "a moved outbound", "an additional address of the outbound", "an outbound that is removed and added"} {
		// Envoy before 1.38 does not know the address of such a proxy, so these patches do not apply.
		lacks := what == "a proxy of its socket" && !envoytest.Client(t).Has(capability.API138)
		if (opened[what] == 0) != lacks {
			t.Errorf("%d patches with %s opened the workload; the release lacks it: %t", opened[what], what, lacks)
		}
	}
	if served < 10 {
		t.Errorf("%d patches were served: that is too few", served)
	}
}

// No network of the test translates addresses. So a way to the workload by an address that has the
// workload's in it is compared with the same way by the address itself: both are refused, or none.
func TestEmbeddedAddresses(t *testing.T) {
	random, refused := rand.New(rand.NewPCG(48, 2)), 0
	for range fuzz.Soak(t) {
		var list []*patched
		for i := range 2 * proxiesEach {
			w := randomWay(random)
			w.form = "ADDR"
			if i < len(embedding) { // each is tried by the plainest way
				w = way{"STATIC", "ADDR", "10080", "an added listener"}
			}
			hidden := w
			hidden.form = embedding[i%len(embedding)]
			list = append(list, &patched{title: w.String(), way: &w}, &patched{title: hidden.String(), way: &hidden})
		}
		w := newWorld(t, list)
		for pair := range slices.Chunk(list, 2) {
			if len(pair[0].refused) > 0 != (len(pair[1].refused) > 0) {
				t.Errorf("%s: refused %v\n%s: refused %v", pair[0].title, pair[0].refused, pair[1].title, pair[1].refused)
			}
			if len(pair[1].refused) > 0 {
				refused++
			}
		}
		w.close()
	}
	if refused < proxiesEach {
		t.Errorf("%d ways were refused: that is too few", refused)
	}
}

// A changed cluster of another service is not refused, by name and at any port but the
// workload's.
func TestHarmlessClusters(t *testing.T) {
	var list []*patched
	for _, discovery := range []string{"STATIC", "STRICT_DNS"} {
		for _, entry := range []string{"an added listener", "a moved outbound", "no listener"} {
			list = append(list, &patched{title: discovery + " by " + entry, way: &way{discovery, "NAME", "19999", entry}})
		}
	}
	newWorld(t, list)
	for _, p := range list {
		if len(p.refused) > 0 {
			t.Errorf("%s: it is refused: %v", p.title, p.refused)
		}
	}
}
