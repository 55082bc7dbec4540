package meshkinds_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/meshkinds"
	"example.com/meshkinds/params"
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// The documents that policy matching comes from print results; these tests
// hold us to each of them. Their inputs are in testdata/seeds.

// config evaluates one kind for a dataplane of a document.
func config(t *testing.T, file, mesh, dataplane, kind string) *rules.Config {
	t.Helper()
	loader := resource.Loader{Kinds: resource.NewKinds(append(meshkinds.Kinds().All(), params.Kind())...)}
	set, err := loader.Load(filepath.Join("..", "seeds", file))
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.NewView(loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range view.Dataplanes(mesh) {
		if d.Name == dataplane {
			return view.Configs(d, core.Scope{Kind: kind})[0]
		}
	}
	t.Fatalf("%s has no dataplane %s", file, dataplane)
	return nil
}

// outbound returns the conf of the outbound to a service.
func outbound(t *testing.T, c *rules.Config, tags resource.Tags) *rules.Effective {
	t.Helper()
	d := &resource.Dataplane{Outbounds: []resource.Outbound{{Tags: tags}}}
	return rules.Evaluate(c.Kind, d, c.Matched, nil).Outbounds[0].Effective
}

func service(name string) resource.Tags {
	return resource.Tags{{Key: resource.ServiceTag, Value: name}}
}

// annotated prints a conf and, as the documents do, where each field is from.
func annotated(t *testing.T, e *rules.Effective) string {
	t.Helper()
	fields := map[string]string{}
	for pointer, o := range e.Fields() {
		fields[pointer] = fmt.Sprintf("%s[%d]", o.Policy.Name, o.Index)
	}
	out := text(t, e.Conf)
	for _, pointer := range slices.Sorted(maps.Keys(fields)) {
		out += " " + pointer[1:] + ":" + fields[pointer]
	}
	return out
}

func TestOutboundResults(t *testing.T) {
	for name, c := range map[string]struct{ file, mesh, dataplane, kind, service, want string }{
		"000 Outbound policy: the last Mesh item overrides param2": {
			"000-params.yaml", "mesh-1", "web", "Params", "backend",
			`{"param1":"value2","param2":"value4"} param1:params[1] param2:params[2]`,
		},
		"000 UpstreamTimeout, backend": {
			"000-upstream-timeout.yaml", "mesh-1", "web", "UpstreamTimeout", "backend",
			`{"connectTimeout":"5s","http":{"requestTimeout":"15s","idleTimeout":"0s"}} connectTimeout:web-timeouts[0] http/idleTimeout:01-consume-backend-timeouts[0] http/requestTimeout:web-timeouts[1]`,
		},
		"000 UpstreamTimeout, payments": {
			"000-upstream-timeout.yaml", "mesh-1", "web", "UpstreamTimeout", "payments",
			`{"connectTimeout":"5s","http":{"requestTimeout":"5s","idleTimeout":"1h"}} connectTimeout:web-timeouts[0] http/idleTimeout:00-base-timeouts[0] http/requestTimeout:00-base-timeouts[0]`,
		},
		"000 TrafficLog: requests to web are logged to logstash": {
			"000-traffic-log.yaml", "mesh-1", "backend", "TrafficLog", "web",
			`{"backends":[{"name":"logstash"}]} backends:tl-1[0]`,
		},
		"001 outgoingServiceA has a 5 second timeout": {
			"001-architecture.yaml", "default", "web", "MeshTimeout", "outgoingServiceA",
			`{"http":{"requestTimeout":"5s"}} http/requestTimeout:my-timeout[0]`,
		},
		"001 outgoingServiceB has a 2 second timeout": {
			"001-architecture.yaml", "default", "web", "MeshTimeout", "outgoingServiceB",
			`{"http":{"requestTimeout":"2s"}} http/requestTimeout:my-timeout[1]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := annotated(t, outbound(t, config(t, c.file, c.mesh, c.dataplane, c.kind), service(c.service)))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOutboundsWithoutResult(t *testing.T) {
	for _, c := range []struct{ file, mesh, dataplane, kind, service string }{
		{"000-traffic-log.yaml", "mesh-1", "backend", "TrafficLog", "payments"},
		{"001-architecture.yaml", "default", "web", "MeshTimeout", "another"},
	} {
		if e := outbound(t, config(t, c.file, c.mesh, c.dataplane, c.kind), service(c.service)); e != nil {
			t.Errorf("%s: %s has a conf: %s", c.file, c.service, text(t, e.Conf))
		}
	}
}

func TestDefaultResults(t *testing.T) {
	for dataplane, want := range map[string]string{
		"special": `{"imports":["default-proxy"],"modifications":[]} imports:pt-2[0] modifications:pt-2[0]`,
		"plain":   `{"imports":["default-proxy"],"modifications":[{"cluster":{"operation":"add","value":"name: test-cluster\nconnectTimeout: 5s\ntype: STATIC\n"}}]} imports:pt-1[0] modifications:pt-1[0]`,
	} {
		got := annotated(t, config(t, "000-proxy-template.yaml", "default", dataplane, "ProxyTemplate").Default)
		if got != want {
			t.Errorf("%s: got %s, want %s", dataplane, got, want)
		}
	}
}

func TestClientResults(t *testing.T) {
	for name, c := range map[string]struct {
		file, mesh, dataplane, kind string
		client                      map[string]string
		want                        string
	}{
		"000 Inbound policy, backend of v2": {
			"000-zone-team.yaml", "mesh-2", "web", "Params",
			map[string]string{"kuma.io/service": "backend", "version": "v2"},
			`{"param1":"value2","param2":"value4"} param1:params[1] param2:params[2]`,
		},
		"000 TrafficLog: all clients are logged to file": {
			"000-traffic-log.yaml", "mesh-1", "backend", "TrafficLog", nil,
			`{"backends":[{"name":"file"}]} backends:tl-1[0]`,
		},
		"001 on the receiving side, a timeout of 1 second": {
			"001-architecture.yaml", "default", "web", "MeshTimeout", nil,
			`{"http":{"requestTimeout":"1s"}} http/requestTimeout:my-timeout[0]`,
		},
		"001 Merging, incomingServiceA": {
			"001-merging.yaml", "default", "web", "MeshTimeout", map[string]string{"kuma.io/service": "incomingServiceA"},
			`{"http":{"requestTimeout":"3s"}} http/requestTimeout:for-a-subset[0]`,
		},
		"001 Merging, incomingServiceB": {
			"001-merging.yaml", "default", "web", "MeshTimeout", map[string]string{"kuma.io/service": "incomingServiceB"},
			`{"http":{"requestTimeout":"5s"}} http/requestTimeout:for-the-mesh[0]`,
		},
		"001 Merging, incomingServiceC": {
			"001-merging.yaml", "default", "web", "MeshTimeout", map[string]string{"kuma.io/service": "incomingServiceC"},
			`{"http":{"requestTimeout":"2s","streamIdleTimeout":"5s"}} http/requestTimeout:for-a-subset[1] http/streamIdleTimeout:for-the-mesh[1]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := annotated(t, config(t, c.file, c.mesh, c.dataplane, c.kind).Inbounds[0].From.Client(c.client))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// view prints a rule view, first match first.
func view(t *testing.T, list []rules.SelectorRule, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		out = append(out, r.Selector.String()+" "+text(t, r.Conf))
	}
	return out
}

func TestRuleViews(t *testing.T) {
	t.Run("000 UpstreamTimeout", func(t *testing.T) {
		c := config(t, "000-upstream-timeout.yaml", "mesh-1", "web", "UpstreamTimeout")
		var policies []*resource.Policy
		for _, m := range c.Matched.All() {
			policies = append(policies, m.Policy)
		}
		list, err := rules.ToRules(c.Kind, policies, partition.Limits{})
		want := []string{
			`kuma.io/service=backend {"connectTimeout":"5s","http":{"requestTimeout":"15s","idleTimeout":"0s"}}`,
			`{} {"connectTimeout":"5s","http":{"requestTimeout":"5s","idleTimeout":"1h"}}`,
		}
		if diff := cmp.Diff(want, view(t, list, err)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("000 zone and team", func(t *testing.T) {
		from := config(t, "000-zone-team.yaml", "mesh-1", "web", "Params").Inbounds[0].From
		list, err := from.Ordered(partition.Limits{})
		got := view(t, list, err)
		want := []string{
			`kuma.io/zone=us-east,team=dev {"param1":"value1","param2":"value3","param3":"value4"}`,
			`kuma.io/zone=us-east {"param1":"value1","param2":"value2"}`,
			`team=dev {"param2":"value3","param3":"value4"}`,
		}
		// The last two exclude each other behind the first, so the document's
		// order and ours both hold.
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("000 MeshTrafficPermission", func(t *testing.T) {
		from := config(t, "000-permission-example.yaml", "mesh-1", "backend", "MeshTrafficPermission").Inbounds[0].From
		list, err := from.Ordered(partition.Limits{})
		// The document also prints rules for infra-monitoring and infra-logger,
		// which have the conf and the origin of the last rule and are joined
		// with it (SPEC 5.4).
		want := []string{`kuma.io/service=web,version=v1 {"action":"Deny"}`, `{} {"action":"Allow"}`}
		if diff := cmp.Diff(want, view(t, list, err)); diff != "" {
			t.Error(diff)
		}
		for client, want := range map[string]string{"web": "Allow", "infra-monitoring": "Allow", "infra-logger": "Allow"} {
			e := from.Client(map[string]string{"kuma.io/service": client})
			if got := text(t, e.Conf); !strings.Contains(got, want) {
				t.Errorf("%s: got %s", client, got)
			}
		}
	})
}
