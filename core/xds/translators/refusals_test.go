package translators_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const (
	filterTypes = "type.googleapis.com/envoy.extensions.filters."
	aProxy      = `{name: proxy, typed_config: {"@type": ` + filterTypes + `network.tcp_proxy.v3.TcpProxy, stat_prefix: x, cluster: c}}`
	anEcho      = `{name: echo, typed_config: {"@type": ` + filterTypes + `network.echo.v3.Echo}}`
	aLimit      = `{name: limit, typed_config: {"@type": ` + filterTypes + `network.connection_limit.v3.ConnectionLimit, stat_prefix: x, max_connections: 1}}`
	aRouter     = `{name: router, typed_config: {"@type": ` + filterTypes + `http.router.v3.Router}}`
	aBuffer     = `{name: buffer, typed_config: {"@type": ` + filterTypes + `http.buffer.v3.Buffer, max_request_bytes: 1}}`
	offRouter   = `{name: router, disabled: true, typed_config: {"@type": ` + filterTypes + `http.router.v3.Router}}`
	offBuffer   = `{name: buffer, disabled: true, typed_config: {"@type": ` + filterTypes + `http.buffer.v3.Buffer, max_request_bytes: 1}}`
	typed       = `{name: struct, typed_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: ` + filterTypes + `http.`
)

func filters(list ...string) string {
	return chains(`{filters: [` + strings.Join(list, ", ") + `]}`)
}

func chains(list ...string) string { return `filter_chains: [` + strings.Join(list, ", ") + `]` }

func manager(more string, list ...string) string {
	return `{name: manager, typed_config: {"@type": ` + filterTypes + `network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, route_config: {virtual_hosts: []}, http_filters: [` +
		strings.Join(list, ", ") + `]` + more + `}}`
}

func wrapped(filter string) string {
	return `{name: wrapped, typed_config: {"@type": type.googleapis.com/envoy.extensions.common.matching.v3.ExtensionWithMatcher, extension_config: ` + filter +
		`, xds_matcher: {on_no_match: {action: {name: skip, typed_config: {"@type": ` + filterTypes + `common.matcher.action.v3.SkipFilter}}}}}}`
}

// refusals are listeners, without name and address, and whether Envoy refuses them.
var refusals = []struct {
	name    string
	fields  string
	refused bool
}{
	{"a TCP proxy", filters(aProxy), false},
	{"no network filter, so connections are closed", filters(), false},
	{"a limit at the end", filters(aLimit), true},
	{"a limit in front", filters(aLimit, aProxy), false},
	{"a limit after the proxy", filters(aProxy, aLimit), true},
	{"two proxies", filters(aProxy, aProxy), true},
	{"an echo in front", filters(anEcho, aProxy), true},
	{"two connection managers", filters(manager("", aRouter), manager("", aRouter)), true},
	{"an HTTP filter among network filters", filters(aBuffer, aProxy), true},
	{"a network filter without config", filters(`{name: envoy.filters.network.tcp_proxy}`), true},
	{"a router", filters(manager("", aRouter)), false},
	{"no HTTP filter", filters(manager("")), false},
	{"a buffer at the end", filters(manager("", aBuffer)), true},
	{"a buffer after the router", filters(manager("", aRouter, aBuffer)), true},
	{"two routers", filters(manager("", aRouter, aRouter)), true},
	{"a disabled router", filters(manager("", aBuffer, offRouter)), true},
	{"a disabled router in front of a router", filters(manager("", offRouter, aRouter)), true},
	{"a disabled buffer", filters(manager("", offBuffer, aRouter)), false},
	{"two filters of one name", filters(manager("", aBuffer, aBuffer, aRouter)), false},
	{"a network filter among HTTP filters", filters(manager("", aProxy, aRouter)), true},
	{"an HTTP filter without config", filters(manager("", `{name: envoy.filters.http.buffer}`, aRouter)), true},
	{"a router in a matcher", filters(manager("", wrapped(aRouter))), true},
	{"a buffer in a matcher", filters(manager("", wrapped(aBuffer), aRouter)), false},
	{"a router as a struct", filters(manager("", typed+`router.v3.Router}}`)), false},
	{"a buffer as a struct", filters(manager("", typed+`buffer.v3.Buffer, value: {max_request_bytes: 1}}}`)), true},
	{"an upgrade with the filters of the manager", filters(manager(`, upgrade_configs: [{upgrade_type: websocket}]`, aRouter)), false},
	{"an upgrade without router", filters(manager(`, upgrade_configs: [{upgrade_type: websocket, filters: [`+aBuffer+`]}]`, aRouter)), true},
	{"an upgrade with a router", filters(manager(`, upgrade_configs: [{upgrade_type: websocket, filters: [`+aRouter+`]}]`, aRouter)), false},
	{"an upgrade twice", filters(manager(`, upgrade_configs: [{upgrade_type: websocket}, {upgrade_type: WebSocket}]`, aRouter)), true},
	{"two chains without conditions", chains(`{filters: [`+aProxy+`]}`, `{filters: [`+aProxy+`]}`), true},
	{"two chains for one port", chains(`{filter_chain_match: {destination_port: 1}}`, `{filter_chain_match: {destination_port: 1}}`), true},
	{"two chains for two ports", chains(`{filter_chain_match: {destination_port: 1}}`, `{filter_chain_match: {destination_port: 2}}`), false},
	{"a name of two chains", chains(`{filter_chain_match: {server_names: [a, b]}}`, `{filter_chain_match: {server_names: [b, c]}}`), true},
	{"ranges of different lengths", chains(`{filter_chain_match: {prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}}`, `{filter_chain_match: {prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 9}]}}`), false},
	{"one range with and without a protocol", chains(`{filter_chain_match: {prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}}`, `{filter_chain_match: {application_protocols: [h2], prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}}`), false},
	{"a default chain with a limit at the end", `default_filter_chain: {filters: [` + aLimit + `]}`, true},
	{"a network filter among listener filters", `listener_filters: [` + aProxy + `], ` + filters(aProxy), true},
}

// TestRefusals adds listeners by a MeshProxyPatch: those that Envoy refuses are not added,
// each with a warning, and the others are.
func TestRefusals(t *testing.T) {
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			policy := fmt.Sprintf("{type: MeshProxyPatch, mesh: default, name: p, spec: {default: {appendModifications: [{listener: {operation: Add, value: %q}}]}}}", listenerText(r.fields))
			s := &story{file: "mesh.yaml", archive: &txtar.Archive{Files: []txtar.File{{Name: "mesh.yaml", Data: []byte(policy)}}}}
			built := s.snapshot(t, "web", translators.All())
			added := false
			for _, l := range built.Resources(wire.ListenerType) {
				added = added || l.Name == "added"
			}
			warned := false
			for _, w := range built.Warnings() {
				warned = warned || strings.Contains(w.String(), "/appendModifications/0") && strings.Contains(w.String(), "Envoy would refuse")
			}
			if added == r.refused || warned != r.refused {
				t.Errorf("added is %t, with a warning: %t; Envoy refuses it: %t", added, warned, r.refused)
			}
		})
	}
}

// TestRefusalsAreThoseOfEnvoy compares the table with Envoy.
func TestRefusalsAreThoseOfEnvoy(t *testing.T) {
	envoy := envoytest.Path(t)
	directory := t.TempDir()
	for i, r := range refusals {
		var tree any
		if err := yaml.Unmarshal([]byte(listenerText(r.fields)), &tree); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		l := &listenerv3.Listener{}
		if err := (protojson.UnmarshalOptions{Resolver: envoyapi.Types{}}).Unmarshal(data, l); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		data, err = message.JSON(&bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{Listeners: []*listenerv3.Listener{l}}})
		if err != nil {
			t.Fatal(err)
		}
		err = envoytest.Validate(envoy, directory, fmt.Sprint("listener", i), data)
		if (err != nil) != r.refused {
			t.Errorf("%s: Envoy returns %v; the table has refused: %t", r.name, err, r.refused)
		}
	}
}

func listenerText(fields string) string {
	return `{name: added, address: {socket_address: {address: 127.0.0.1, port_value: 7777}}, ` + fields + `}`
}
