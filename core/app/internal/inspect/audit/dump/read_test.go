package dump_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
)

// envoyDump has each way in which a dump shows a filter: in the listener, as an extension, overridden
// by routes of another resource, disabled; and what is not active.
const envoyDump = `{"configs": [
  {"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"id": "default.web", "userAgentBuildVersion": {"version": {"majorNumber": 1, "minorNumber": 36, "patch": 4}}}}},
  {"@type": "type.googleapis.com/envoy.admin.v3.EcdsConfigDump", "ecdsFilters": [{"ecdsFilter": {"name": "permission", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {}}}}]},
  {"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamicRouteConfigs": [{"routeConfig": {"name": "r", "virtualHosts": [{"name": "v",
    "typedPerFilterConfig": {"a": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}},
    "domains": ["*"],
    "routes": [{"match": {"prefix": "/off"}, "typedPerFilterConfig": {"a": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": true}}}, {"match": {"prefix": "/"}}]}]}}]},
  {"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamicListeners": [
    {"name": "refused", "errorState": {"details": "no such filter"}},
    {"name": "warming", "warmingState": {"listener": {"name": "warming"}}},
    {"name": "in", "activeState": {"listener": {"name": "in", "trafficDirection": "INBOUND", "address": {"socketAddress": {"address": "10.0.0.1", "portValue": 80}},
      "filterChains": [{"name": "tls", "filterChainMatch": {"serverNames": ["a"]},
        "transportSocket": {"typedConfig": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"}},
        "filters": [{"name": "hcm", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "normalizePath": true, "rds": {"routeConfigName": "r"},
          "httpFilters": [
            {"name": "a", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"}},
            {"name": "permission", "configDiscovery": {}}, {"name": "absent", "configDiscovery": {}},
            {"name": "wrapped", "disabled": true, "typedConfig": {"@type": "type.googleapis.com/udpa.type.v1.TypedStruct", "typeUrl": "type.googleapis.com/x.Y", "value": {"z": 1}}}]}}]}],
      "defaultFilterChain": {"filters": [{"name": "hcm", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "rds": {"routeConfigName": "gone"}, "httpFilters": [{"name": "a"}]}}]}}}}]}]}`

func TestOf(t *testing.T) {
	proxies, err := dump.ParseProxies([]byte(envoyDump))
	if err != nil || len(proxies) != 1 {
		t.Fatal(proxies, err)
	}
	p := proxies[0]
	if p.Node != "default.web" || p.Version != "1.36.4" || len(p.Listeners) != 1 {
		t.Fatalf("%+v", p)
	}
	if diff := cmp.Diff([]dump.Rejected{{Type: "Listeners", Name: "refused", Why: "no such filter"}}, p.Rejected); diff != "" {
		t.Error(diff)
	}
	l := p.Listeners[0]
	if l.Address != "10.0.0.1" || l.Port != 80 || !l.Inbound || len(l.Chains) != 2 {
		t.Fatalf("%+v", l)
	}
	tls := l.Chains[0]
	if tls.TLS != dump.WithoutClientCertificate || !tls.HTTP || tls.Normalizes || !cmp.Equal(tls.Match, []string{"server_names"}) || len(tls.Filters) != 4 {
		t.Fatalf("%+v", tls)
	}
	a := tls.Filters[0]
	if len(a.Overrides) != 2 || a.Overrides[0].Where != "route 0 of virtual host v" || !a.Overrides[0].Disabled || a.Overrides[1].Where != "virtual host v" || a.Overrides[1].Disabled {
		t.Errorf("%+v", a.Overrides)
	}
	if f := tls.Filters[1]; !strings.HasSuffix(f.Type, ".RBAC") || !f.Config.Has("rules") || f.Missing != "" {
		t.Errorf("%+v", f)
	}
	if f := tls.Filters[2]; f.Missing != "its extension config is not in the dump" {
		t.Errorf("%+v", f)
	}
	if f := tls.Filters[3]; f.Type != "x.Y" || f.Config.Number("z") != 1 || !f.Disabled {
		t.Errorf("%+v", f)
	}
	if plain := l.Chains[1]; plain.TLS != dump.PlainText || plain.Filters[0].Missing != "the route configuration gone is not in the dump" {
		t.Errorf("%+v", plain)
	}
}

// Each part of a route configuration, and an upgrade, may let requests pass that the filter of the
// listener refuses.
func TestOverrides(t *testing.T) {
	const off = `{"typed_per_filter_config": {"a": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": true}}`
	for _, c := range []struct{ name, manager, where, missing string }{
		{"nothing", `"route_config": {"virtual_hosts": [{"name": "v", "routes": [{"name": "r"}]}]}`, "", ""},
		{"a route configuration", `"route_config": ` + off + `, "name": "r"}`, "route configuration r", ""},
		{"a virtual host", `"route_config": {"virtual_hosts": [` + off + `, "name": "v"}]}`, "virtual host v", ""},
		{"a route", `"route_config": {"virtual_hosts": [{"name": "v", "routes": [` + off + `}]}]}`, "route 0 of virtual host v", ""},
		{"a weighted cluster", `"route_config": {"virtual_hosts": [{"name": "v", "routes": [{"name": "r", "route": {"weighted_clusters": {"clusters": [` + off + `, "name": "c"}]}}}]}]}`, "the cluster c of route r of virtual host v", ""},
		{"a tree of routes", `"route_config": {"virtual_hosts": [{"name": "v", "matcher": {"on_no_match": {"action": {"typed_config": ` + off + `}}}}}]}`, "a route that the matcher of virtual host v finds", ""},
		{"a tree of routes without the filter", `"route_config": {"virtual_hosts": [{"name": "v", "matcher": {"on_no_match": {"action": {"name": "a"}}}}]}`, "", ""},
		{"virtual hosts on demand", `"route_config": {"name": "r", "vhds": {}}`, "", "the virtual hosts of the route configuration r are discovered on demand"},
		{"an upgrade", `"upgrade_configs": [{"upgrade_type": "websocket"}]`, "", ""},
		{"an upgrade with filters", `"upgrade_configs": [{"upgrade_type": "websocket", "filters": [{"name": "router"}]}]`, "the upgrade websocket, which has filters of its own", ""},
	} {
		proxies, err := dump.ParseProxies([]byte(`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "static_listeners": [{"listener": {"name": "in", "filter_chains": [{"filters": [
			{"name": "hcm", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "http_filters": [{"name": "a"}], ` + c.manager + `}}]}]}}]}]}`))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		f := proxies[0].Listeners[0].Chains[0].Filters[0]
		var where []string
		for _, o := range f.Overrides {
			if !o.Base {
				where = append(where, o.Where)
			}
		}
		if got := strings.Join(where, ", "); got != c.where || f.Missing != c.missing {
			t.Errorf("%s: %q %q, want %q %q", c.name, got, f.Missing, c.where, c.missing)
		}
	}
}

func TestSeveralProxies(t *testing.T) {
	proxies, err := dump.ParseProxies([]byte(`{"configDump": {"ns": {"b": ` + envoyDump + `, "a": ` + envoyDump + `}}}`))
	if err != nil || len(proxies) != 2 || proxies[0].Path != "configDump/ns/a" || proxies[1].Path != "configDump/ns/b" {
		t.Fatalf("%+v %v", proxies, err)
	}
}

func TestNoDump(t *testing.T) {
	for text, want := range map[string]error{"": dump.ErrNoDump, "{}": dump.ErrNoDump, "a: b": dump.ErrNoDump, `{"configs": [{"@type": "x"}]}`: dump.ErrNoListener} {
		if _, err := dump.ParseProxies([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func TestReadFromAdmin(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/config_dump?include_eds" {
			http.Error(w, r.URL.String(), http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(envoyDump)) // the reader of the test fails without it
	}))
	defer s.Close()
	proxies, err := dump.Read(context.Background(), s.URL, nil)
	if err != nil || len(proxies) != 1 || proxies[0].Source != s.URL {
		t.Fatal(proxies, err)
	}
	if _, err := dump.Read(context.Background(), s.URL+"/nothing", nil); err == nil {
		t.Error("no error for an answer 404")
	}
	if proxies, err = dump.Read(context.Background(), "-", strings.NewReader(envoyDump)); err != nil || len(proxies) != 1 {
		t.Error(proxies, err)
	}
}
