package meshkinds_test

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/meshkinds"
	"example.com/meshkinds/proxytemplate"
	"example.com/meshkinds/trafficlog"
	"example.com/meshkinds/upstreamtimeout"
	"github.com/google/go-cmp/cmp"
	"github.com/meshmatch/meshmatch/core/conf/conftest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The documents of the proposal's examples decode, kind by kind.
func TestLoad(t *testing.T) {
	loader := resource.Loader{Kinds: meshkinds.Kinds()}
	set, err := loader.Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, policy := range set.Policies {
		key := policy.Kind + " " + policy.Name
		for i := range policy.To {
			got[key] = append(got[key], "to "+target(&policy.To[i].TargetRef)+" "+text(t, policy.To[i].Conf))
		}
		for i := range policy.From {
			got[key] = append(got[key], "from "+target(&policy.From[i].TargetRef)+" "+text(t, policy.From[i].Conf))
		}
		if policy.Default != nil {
			got[key] = append(got[key], text(t, policy.Default))
		}
	}
	want := map[string][]string{
		"UpstreamTimeout 00-base-timeouts": {
			`to Mesh {"connectTimeout":"10s","http":{"requestTimeout":"5s","streamIdleTimeout":"1h"}}`,
		},
		"UpstreamTimeout 01-consume-backend-timeouts": {
			`to MeshService backend {"connectTimeout":"20s","http":{"idleTimeout":"0s"}}`,
		},
		"UpstreamTimeout web-timeouts": {
			`to Mesh {"connectTimeout":"5s"}`,
			`to MeshService backend {"http":{"requestTimeout":"15s"}}`,
		},
		"ProxyTemplate pt-1": {
			`{"imports":["default-proxy"],"modifications":[{"cluster":{"operation":"add","value":"name: test-cluster\nconnectTimeout: 5s\ntype: STATIC\n"}}]}`,
		},
		"ProxyTemplate pt-2": {`{"imports":["default-proxy"],"modifications":[]}`},
		"TrafficLog tl-1": {
			`to MeshService web {"backends":[{"name":"logstash"}]}`,
			`from Mesh {"backends":[{"name":"file"}]}`,
		},
		"MeshTrafficPermission backend-permissions": {
			`from Mesh {"action":"Allow"}`,
			`from MeshServiceSubset web version=v1 {"action":"Deny"}`,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func target(ref *resource.TargetRef) string {
	return strings.TrimSpace(strings.Join([]string{ref.Kind.String(), ref.Name, ref.Tags.String()}, " "))
}

func text(t *testing.T, conf resource.Conf) string {
	t.Helper()
	data, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUpstreamTimeoutRejected(t *testing.T) {
	conftest.Rejected(t, upstreamtimeout.Kind(), map[string]conftest.Case{
		"misspelt": {
			Conf: `{connectionTimeout: 1s}`,
			Want: `p.yaml:2:2: spec.to[0].default.connectionTimeout: unknown field; did you mean "connectTimeout"?`,
		},
	})
}

func TestProxyTemplateRejected(t *testing.T) {
	conftest.Rejected(t, proxytemplate.Kind(), map[string]conftest.Case{
		"nothing":            {Conf: `{modifications: [{}]}`, Want: `p.yaml:2:18: spec.default.modifications[0]: a modification must change something; give cluster or listener`},
		"nothing to add":     {Conf: `{modifications: [{cluster: {operation: add}}]}`, Want: `p.yaml:2:28: spec.default.modifications[0].cluster.value: is required for "add"`},
		"removed by content": {Conf: `{modifications: [{cluster: {operation: remove, value: a}}]}`, Want: `p.yaml:2:55: spec.default.modifications[0].cluster.value: does not go with "remove"; remove it`},
		"two at once": {
			Conf: `{modifications: [{cluster: {operation: remove}, listener: {operation: remove}}]}`,
			Want: `p.yaml:2:59: spec.default.modifications[0].listener: stands beside cluster; write two modifications`,
		},
	})
}

func TestTrafficLogRejected(t *testing.T) {
	conftest.Rejected(t, trafficlog.Kind(), map[string]conftest.Case{
		"nameless backend": {In: "from", Conf: `{backends: [{}]}`, Want: `p.yaml:2:13: spec.from[0].default.backends[0].name: required field is missing`},
	})
}
