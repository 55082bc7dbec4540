package e2e

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
)

const extensions = "type.googleapis.com/envoy.extensions."

// What the workload of an HTTP inbound answers: a body, and the path in a
// header.
const (
	allowedBody = "allowed"
	pathHeader  = "x-path"
)

// printedFilter is what `access --filter` prints.
type printedFilter struct {
	name   string
	config object
}

func printed(t testing.TB, p *permission.Permissions, form rbac.Form, statPrefix string) printedFilter {
	f, err := rbac.New(p, form, statPrefix)
	if err != nil {
		t.Fatal(err)
	}
	return asPrinted(t, f)
}

func asPrinted(t testing.TB, f rbac.Filter) printedFilter {
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Name        string
		TypedConfig object
	}
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	return printedFilter{read.Name, read.TypedConfig}
}

func (f printedFilter) object() object { return object{"name": f.name, "typed_config": f.config} }

// listenerOf returns a listener that asks for a client certificate and decides
// by the filter. It counts under its name. A raw one does not normalize paths.
func listenerOf(t testing.TB, a *envoytest.Authority, name string, p *permission.Permissions, f printedFilter, raw bool) object {
	server := a.Issue(t, "spiffe://shop.mesh/ns/backend/sa/backend")
	filters := []object{f.object(), {"name": "envoy.filters.network.echo", "typed_config": object{"@type": extensions + "filters.network.echo.v3.Echo"}}}
	several := asPrinted(t, rbac.Filter{Name: rbac.SeveralFilterName, Config: rbac.SeveralFilter(p.Protocol)})
	if p.Protocol == request.HTTP {
		manager := connectionManager(name, several, f)
		if !raw {
			normalizePaths(manager)
		}
		filters = []object{manager}
	} else {
		filters = slices.Insert(filters, 0, several.object())
	}
	filters = slices.Insert(filters, 0, asPrinted(t, rbac.Filter{Name: rbac.CommaFilterName, Config: rbac.CommaFilter()}).object())
	return object{
		"name": name, "address": loopback(),
		"listener_filters": []object{{
			"name": "envoy.filters.listener.tls_inspector", "typed_config": object{"@type": extensions + "filters.listener.tls_inspector.v3.TlsInspector"},
		}},
		"filter_chains": []object{{
			"filters": filters,
			"transport_socket": object{"name": "envoy.transport_sockets.tls", "typed_config": object{
				"@type":                      extensions + "transport_sockets.tls.v3.DownstreamTlsContext",
				"require_client_certificate": true,
				"common_tls_context": object{
					"alpn_protocols": []string{"h2", "http/1.1"},
					"tls_certificates": []object{{
						"certificate_chain": object{"inline_string": envoytest.CertificatePEM(server.Certificate[0])},
						"private_key":       object{"inline_string": envoytest.KeyPEM(t, server)},
					}},
					"validation_context": object{"trusted_ca": object{"inline_string": a.Bundle()}},
				},
			}},
		}},
	}
}

// plainListenerOf returns a listener without TLS that decides by the filter. Without certificates
// no filter compares the IDs of one.
func plainListenerOf(name string, p *permission.Permissions, f printedFilter) object {
	filters := []object{f.object(), {"name": "envoy.filters.network.echo", "typed_config": object{"@type": extensions + "filters.network.echo.v3.Echo"}}}
	if p.Protocol == request.HTTP {
		manager := connectionManager(name, f)
		normalizePaths(manager)
		filters = []object{manager}
	}
	return object{"name": name, "address": loopback(), "filter_chains": []object{{"filters": filters}}}
}

func connectionManager(name string, deciding ...printedFilter) object {
	filters := []object{}
	for _, f := range deciding {
		filters = append(filters, f.object())
	}
	filters = append(filters, object{"name": "envoy.filters.http.router", "typed_config": object{"@type": extensions + "filters.http.router.v3.Router"}})
	return object{"name": "envoy.filters.network.http_connection_manager", "typed_config": object{
		"@type":       extensions + "filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": name,
		"route_config": object{"virtual_hosts": []object{{
			"name": "workload", "domains": []string{"*"},
			"response_headers_to_add": []object{{"header": object{"key": pathHeader, "value": "%REQ(:PATH)%"}}},
			"routes":                  []object{{"match": object{"prefix": "/"}, "direct_response": object{"status": 200, "body": object{"inline_string": allowedBody}}}},
		}}},
		"http_filters": filters,
	}}
}

// normalizePaths makes a connection manager like the one of an inbound (SPEC 11.2).
func normalizePaths(manager object) {
	config := manager["typed_config"].(object)
	config["normalize_path"], config["merge_slashes"] = true, true
}
