package meshproxypatch_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshproxypatch.Kind(), `
type: MeshProxyPatch
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  default:
    appendModifications:
      - cluster:
          operation: Add
          value: |
            name: test-cluster
            connect_timeout: 5s
            type: STATIC
      - cluster:
          operation: Patch
          match: {origin: outbound, name: backend}
          jsonPatches:
            - {op: add, path: /a~1b/-, value: {x: [1, "2"]}}
            - {op: remove, path: /c}
            - {op: replace, path: "", value: false}
            - {op: move, path: /d, from: /e}
            - {op: copy, path: /f, from: /g}
      - listener:
          operation: Patch
          match: {origin: inbound, name: "inbound:0.0.0.0:80", tags: {kuma.io/service: web}}
          value: "useOriginalDst: true"
      - listener: {operation: Patch, jsonPatches: [{op: remove, path: /a}]}
      - virtualHost:
          operation: Add
          match: {origin: outbound, routeConfigurationName: "outbound:backend"}
          value: "name: other"
      - virtualHost: {operation: Remove, match: {name: backend}}
      - virtualHost: {operation: Patch, jsonPatches: [{op: remove, path: /a}]}
      - networkFilter: {operation: AddFirst, value: "{name: first, configDiscovery: {configSource: {ads: {}}}}"}
      - networkFilter:
          operation: AddBefore
          match: {origin: inbound, name: envoy.filters.network.tcp_proxy, listenerName: l, listenerTags: {a: b}}
          value: "{name: before, configDiscovery: {configSource: {ads: {}}}}"
      - networkFilter: {operation: Patch, match: {name: a}, jsonPatches: [{op: remove, path: /a}]}
      - httpFilter: {operation: AddLast, value: "{name: last, configDiscovery: {configSource: {ads: {}}}}"}
      - httpFilter: {operation: AddAfter, match: {name: envoy.filters.http.cors}, value: "{name: after, configDiscovery: {configSource: {ads: {}}}}"}
      - httpFilter: {operation: Patch, match: {name: envoy.filters.http.router}, jsonPatches: [{op: remove, path: /a}]}
      - httpFilter: {operation: Remove}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshproxypatch.Kind(), map[string]kindtest.Case{
		"nothing": {
			Conf: `{appendModifications: [{}]}`,
			Want: `p.yaml:2:24: spec.default.appendModifications[0]: a modification must change something; give one of cluster, listener, networkFilter, httpFilter and virtualHost`,
		},
		"two at once": {
			Conf: `{appendModifications: [{cluster: {operation: Remove}, listener: {operation: Remove}}]}`,
			Want: `p.yaml:2:65: spec.default.appendModifications[0].listener: is given in addition to cluster; write two modifications`,
		},
		"operation of filters": {
			Conf: `{appendModifications: [{cluster: {operation: AddFirst, value: "name: b"}}]}`,
			Want: `p.yaml:2:46: spec.default.appendModifications[0].cluster.operation: unknown value "AddFirst"; one of "Add", "Remove", "Patch"`,
		},
		"lower case": {
			Conf: `{appendModifications: [{cluster: {operation: add, value: "name: b"}}]}`,
			Want: `p.yaml:2:46: spec.default.appendModifications[0].cluster.operation: unknown value "add"; did you mean "Add"?`,
		},
		"nothing to add": {
			Conf: `{appendModifications: [{listener: {operation: Add}}]}`,
			Want: `p.yaml:2:35: spec.default.appendModifications[0].listener.value: is required to add a resource`,
		},
		"nothing to patch": {
			Conf: `{appendModifications: [{virtualHost: {operation: Patch}}]}`,
			Want: `p.yaml:2:38: spec.default.appendModifications[0].virtualHost.value: is required for "Patch"; or give jsonPatches`,
		},
		"patched in two ways": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, value: "name: b", jsonPatches: [{op: remove, path: /a}]}}]}`,
			Want: `p.yaml:2:84: spec.default.appendModifications[0].cluster.jsonPatches: value and jsonPatches are both present; use one of them`,
		},
		"patches to add": {
			Conf: `{appendModifications: [{httpFilter: {operation: AddLast, value: "configDiscovery: {}", jsonPatches: []}}]}`,
			Want: `p.yaml:2:101: spec.default.appendModifications[0].httpFilter.jsonPatches: are only allowed with "Patch"; remove them`,
		},
		"removed with a value": {
			Conf: `{appendModifications: [{networkFilter: {operation: Remove, value: "name: b"}}]}`,
			Want: `p.yaml:2:67: spec.default.appendModifications[0].networkFilter.value: is not allowed with "Remove"; remove it`,
		},
		"added to what is there": {
			Conf: `{appendModifications: [{cluster: {operation: Add, match: {name: a}, value: "name: b"}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.match: is not allowed with "Add": nothing is matched; remove it`,
		},
		"virtual host added to itself": {
			Conf: `{appendModifications: [{virtualHost: {operation: Add, match: {name: a}, value: "name: b"}}]}`,
			Want: `p.yaml:2:69: spec.default.appendModifications[0].virtualHost.match.name: is not allowed with "Add": nothing is matched; remove it`,
		},
		"before which filter": {
			Conf: `{appendModifications: [{networkFilter: {operation: AddBefore, value: "configDiscovery: {}"}}]}`,
			Want: `p.yaml:2:40: spec.default.appendModifications[0].networkFilter.match.name: is required for "AddBefore"`,
		},
		"after which filter": {
			Conf: `{appendModifications: [{httpFilter: {operation: AddAfter, match: {origin: a}, value: "configDiscovery: {}"}}]}`,
			Want: `p.yaml:2:66: spec.default.appendModifications[0].httpFilter.match.name: is required for "AddAfter"`,
		},
		"no YAML": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: "just text"}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: line 1 of the text: must be a mapping, not the string "just text"; write the resource's fields as YAML`,
		},
		"listener without an address": {
			Conf: `{appendModifications: [{listener: {operation: Add, value: "name: a"}}]}`,
			Want: `p.yaml:2:59: spec.default.appendModifications[0].listener.value: a listener that is added needs an address; give address, with a socketAddress`,
		},
		"filter without a config": {
			Conf: `{appendModifications: [{httpFilter: {operation: AddLast, value: "name: a"}}, {networkFilter: {operation: AddFirst, value: "name: a"}}]}`,
			Want: "p.yaml:2:65: spec.default.appendModifications[0].httpFilter.value: a filter that is added needs a config; give typedConfig, with the @type of the extension\n" +
				"p.yaml:2:123: spec.default.appendModifications[1].networkFilter.value: a filter that is added needs a config; give typedConfig, with the @type of the extension",
		},
		"unknown field": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, value: "connect_timeout: 1s\nloadAssignment: {endpoint: []}"}}]}`,
			Want: `p.yaml:2:60: spec.default.appendModifications[0].cluster.value: line 2 of the text: loadAssignment.endpoint: unknown field of envoy.config.endpoint.v3.ClusterLoadAssignment; did you mean "endpoints"?`,
		},
		"unknown word, of a list": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, value: "filters: [{name: x}]\ntype: STRICT_DSN"}}]}`,
			Want: `p.yaml:2:60: spec.default.appendModifications[0].cluster.value: line 2 of the text: type: unknown word "STRICT_DSN"; did you mean "STRICT_DNS"?`,
		},
		"bad value": {
			Conf: `{appendModifications: [{virtualHost: {operation: Patch, value: "domains: 5"}}]}`,
			Want: `p.yaml:2:64: spec.default.appendModifications[0].virtualHost.value: line 1 of the text: unexpected token 5`,
		},
		"unknown extension": {
			Conf: `{appendModifications: [{httpFilter: {operation: AddFirst, value: "name: lua\ntypedConfig:\n  '@type': type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lau"}}]}`,
			Want: `p.yaml:2:66: spec.default.appendModifications[0].httpFilter.value: line 3 of the text: typedConfig.@type: "envoy.extensions.filters.http.lua.v3.Lau" is no type of the API of Envoy 1.40; did you mean "envoy.extensions.filters.http.lua.v3.Lua"?`,
		},
		"unknown field of an extension that is not linked": {
			Conf: `{appendModifications: [{networkFilter: {operation: AddFirst, value: "typedConfig: {'@type': type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy, settings: {opTimeot: 1s}}"}}]}`,
			Want: `p.yaml:2:69: spec.default.appendModifications[0].networkFilter.value: line 1 of the text: typedConfig.settings.opTimeot: unknown field of envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.ConnPoolSettings; did you mean "opTimeout"?`,
		},
		"unknown extension in a patch": {
			Conf: `{appendModifications: [{listener: {operation: Patch, jsonPatches: [{op: add, path: /listenerFilters/-, value: {typedConfig: {"@type": type.googleapis.com/x.Y}}}]}}]}`,
			Want: `p.yaml:2:135: spec.default.appendModifications[0].listener.jsonPatches[0].value.typedConfig.@type: "x.Y" is no type of the API of Envoy 1.40`,
		},
		"tags of listeners": {
			Conf: `{appendModifications: [{listener: {operation: Remove, match: {tags: {a: ""}}}}, {httpFilter: {operation: Remove, match: {listenerTags: {"b c": d}}}}]}`,
			Want: "p.yaml:2:73: spec.default.appendModifications[0].listener.match.tags.a: bad tag value \"\"; a tag's value has letters, digits, '.', '_', ':' and '-', or is * for any\n" +
				"p.yaml:2:137: spec.default.appendModifications[1].httpFilter.match.listenerTags[\"b c\"]: bad tag key \"b c\"; a tag's key has letters, digits, '.', '_', ':', '/' and '-'",
		},
		"bad YAML": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: "a: 1\nb: ["}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: line 2 of the text: bad YAML: did not find expected node content; check indentation and quotes; write the resource's fields as YAML`,
		},
		"duplicate field": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: "a: {b: 1,\n b: 1}"}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: line 2 of the text: duplicate field "b"; it is in line 1 already; write the resource's fields as YAML`,
		},
		"two resources": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: "a: 1\n---\nb: 1"}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: must be one mapping, not 2; write the resource's fields as YAML`,
		},
		"empty resource": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: ""}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: must not be empty; write the resource's fields as YAML`,
		},
		"patch without a value": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: add, path: /a}]}}]}`,
			Want: `p.yaml:2:67: spec.default.appendModifications[0].cluster.jsonPatches[0].value: is required for "add"`,
		},
		"patch with a foreign field": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /a, from: /b}]}}]}`,
			Want: `p.yaml:2:96: spec.default.appendModifications[0].cluster.jsonPatches[0].from: is not allowed with "remove"; remove it`,
		},
		"moved from nowhere": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: move, path: /a}]}}]}`,
			Want: `p.yaml:2:67: spec.default.appendModifications[0].cluster.jsonPatches[0].from: is required for "move"`,
		},
		"the root removed": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: ""}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: the whole resource cannot be removed by a patch; use operation Remove`,
		},
		"operation of RFC 6902": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: test, path: /a}]}}]}`,
			Want: `p.yaml:2:72: spec.default.appendModifications[0].cluster.jsonPatches[0].op: unknown value "test"; one of "add", "remove", "replace", "move", "copy"`,
		},
		"no pointer": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: a/b}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: must be a JSON pointer that starts with /`,
		},
		"an index that makes a long list": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /a/1000000000/b}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: the index 1000000000 is above 1000; use - for the end of a list`,
		},
		"an index beyond all numbers": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /a/99999999999999999999}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: the index 99999999999999999999 is above 1000; use - for the end of a list`,
		},
		"an index with a sign": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /a/+1000000000/b}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: the index +1000000000 is above 1000; use - for the end of a list`,
		},
		"many levels": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: ` + strings.Repeat("/a", 101) + `}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: has 101 levels, and at most 100 are allowed`,
		},
		"a long pointer": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /` + strings.Repeat("a", 4096) + `}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: has 4097 bytes, and at most 4096 are allowed`,
		},
		"a long value": {
			Conf: `{appendModifications: [{cluster: {operation: Add, value: "name: ` + strings.Repeat("a", 1<<20) + `"}}]}`,
			Want: `p.yaml:2:58: spec.default.appendModifications[0].cluster.value: has 1048587 bytes as JSON, and at most 1048576 are allowed; write less`,
		},
		"bare tilde": {
			Conf: `{appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: remove, path: /a~b}]}}]}`,
			Want: `p.yaml:2:86: spec.default.appendModifications[0].cluster.jsonPatches[0].path: bad JSON pointer "/a~b"; write ~0 for ~ and ~1 for / in a name`,
		},
	})
}
