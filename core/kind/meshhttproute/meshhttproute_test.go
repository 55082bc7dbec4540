package meshhttproute_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshhttproute.Kind(), `
type: MeshHTTPRoute
mesh: default
name: everything
spec:
  targetRef: {kind: MeshGateway, name: edge, tags: {team: core}}
  to:
    - targetRef: {kind: MeshService, name: backend}
      hostnames: [example.com, "*.example.com", "*"]
      rules:
        - matches:
            - path: {type: PathPrefix, value: /v1}
              method: GET
              queryParams:
                - {type: Exact, name: user, value: a}
                - {type: RegularExpression, name: page, value: "[0-9]+"}
              headers: [{type: Prefix, name: x-a, value: b}]
          default:
            filters:
              - type: RequestHeaderModifier
                requestHeaderModifier:
                  set: [{name: a, value: b}]
                  add: [{name: c, value: d}]
                  remove: [e]
              - {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [x]}}
              - type: RequestRedirect
                requestRedirect:
                  scheme: https
                  hostname: other.example.com
                  port: 8443
                  statusCode: 301
                  path: {type: ReplaceFullPath, replaceFullPath: /}
              - type: URLRewrite
                urlRewrite:
                  hostname: other.example.com
                  hostToBackendHostname: false
                  path: {type: ReplacePrefixMatch, replacePrefixMatch: /v2}
              - type: RequestMirror
                requestMirror:
                  percentage: "12.5"
                  backendRef: {kind: MeshService, name: mirror, port: 8080}
            backendRefs:
              - {kind: MeshService, name: backend, weight: 90}
              - {kind: MeshServiceSubset, name: backend, tags: {version: v2}, weight: 0}
              - {kind: MeshService, name: backend, namespace: shop, port: 80}
              - {kind: MeshExternalService, labels: {kuma.io/display-name: backend}}
        - matches:
            - {}
            - path: {type: Exact, value: /a/}
            - path: {type: PathPrefix, value: /}
            - path: {type: RegularExpression, value: "/v[0-9]"}
          default: {}
`)
}

func TestRejected(t *testing.T) {
	rule := func(matches, conf string) string {
		return `rules: [{matches: [` + matches + `], default: {` + conf + `}}]`
	}
	filter := func(f string) string { return rule("{}", `filters: [`+f+`]`) }
	kindtest.Rejected(t, meshhttproute.Kind(), map[string]kindtest.Case{
		"rules missing": {
			Conf: `hostnames: [a]`,
			Want: `p.yaml:1:59: spec.to[0].rules: required field is missing`,
		},
		"below default": {
			Conf: `default: {rules: []}`,
			Want: "p.yaml:1:59: spec.to[0].rules: required field is missing\n" +
				`p.yaml:2:1: spec.to[0].default: unknown field; one of "hostnames", "rules"`,
		},
		"a rewrite of nothing": {
			Conf: filter(`{type: URLRewrite, urlRewrite: {}}`),
			Want: `p.yaml:2:76: spec.to[0].rules[0].default.filters[0].urlRewrite: the filter changes nothing; set hostname or path, or remove the filter`,
		},
		"a redirect to the same URL": {
			Conf: filter(`{type: RequestRedirect, requestRedirect: {statusCode: 301}}`),
			Want: `p.yaml:2:86: spec.to[0].rules[0].default.filters[0].requestRedirect: the request is redirected to its own URL; set scheme, hostname, port or path`,
		},
		"host names without a gateway": {
			Conf: `hostnames: [a.example.com], rules: []`,
			Want: `p.yaml:2:12: spec.to[0].hostnames: only a policy for a MeshGateway has host names; write targetRef: {kind: MeshGateway, name: ...}, or remove it`,
		},
		"host name": {
			Conf: `hostnames: [Example.com], rules: []`,
			Want: `p.yaml:2:13: spec.to[0].hostnames[0]: bad host name "Example.com"; write a name in lower case, such as example.com or *.example.com`,
		},
		"no match": {
			Conf: rule("", ""),
			Want: `p.yaml:2:19: spec.to[0].rules[0].matches: must not be empty; write {} for a match that holds for every request`,
		},
		"path type of a rule of an inbound": {
			Conf: rule(`{path: {type: Prefix, value: /}}`, ""),
			Want: `p.yaml:2:34: spec.to[0].rules[0].matches[0].path.type: unknown value "Prefix"; did you mean "PathPrefix"?`,
		},
		"relative path": {
			Conf: rule(`{path: {type: Exact, value: a}}`, ""),
			Want: `p.yaml:2:48: spec.to[0].rules[0].matches[0].path.value: a path must start with /`,
		},
		"query in a path": {
			Conf: rule(`{path: {type: Exact, value: "/a?b=c"}}`, ""),
			Want: `p.yaml:2:48: spec.to[0].rules[0].matches[0].path.value: a path must not contain ? or #; use queryParams`,
		},
		"prefix with a slash at its end": {
			Conf: rule(`{path: {type: PathPrefix, value: /a/}}`, ""),
			Want: `p.yaml:2:53: spec.to[0].rules[0].matches[0].path.value: a prefix is compared by segment and must not end with /; write /a`,
		},
		"expression": {
			Conf: rule(`{path: {type: RegularExpression, value: "a("}}`, ""),
			Want: "p.yaml:2:60: spec.to[0].rules[0].matches[0].path.value: bad regular expression: error parsing regexp: missing closing ): `a(`; write it in RE2's syntax",
		},
		"expression of a query parameter": {
			Conf: rule(`{queryParams: [{type: RegularExpression, name: a, value: "("}]}`, ""),
			Want: "p.yaml:2:77: spec.to[0].rules[0].matches[0].queryParams[0].value: bad regular expression: error parsing regexp: missing closing ): `(`; write it in RE2's syntax",
		},
		"query parameter without a name": {
			Conf: rule(`{queryParams: [{type: Exact, name: "", value: a}]}`, ""),
			Want: `p.yaml:2:55: spec.to[0].rules[0].matches[0].queryParams[0].name: must not be empty`,
		},
		"control character in a header": {
			Conf: filter(`{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: "b\nc"}]}}`),
			Want: `p.yaml:2:122: spec.to[0].rules[0].default.filters[0].requestHeaderModifier.set[0].value: a header must not have a control character; remove it`,
		},
		"control character in a path": {
			Conf: filter(`{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: "/a\nb"}}}`),
			Want: `p.yaml:2:124: spec.to[0].rules[0].default.filters[0].urlRewrite.path.replaceFullPath: a path must not have a control character; remove it`,
		},
		"query parameter twice": {
			Conf: rule(`{queryParams: [{type: Exact, name: a, value: b}, {type: Exact, name: a, value: c}]}`, ""),
			Want: `p.yaml:2:89: spec.to[0].rules[0].matches[0].queryParams[1].name: duplicate query parameter "a"`,
		},
		"method": {
			Conf: rule(`{method: get}`, ""),
			Want: `p.yaml:2:29: spec.to[0].rules[0].matches[0].method: unknown value "get"; did you mean "GET"?`,
		},
		"filter without its arm": {
			Conf: filter(`{type: URLRewrite}`),
			Want: `p.yaml:2:45: spec.to[0].rules[0].default.filters[0].urlRewrite: is required for type "URLRewrite"`,
		},
		"mirror without its arm": {
			Conf: filter(`{type: RequestMirror}`),
			Want: `p.yaml:2:45: spec.to[0].rules[0].default.filters[0].requestMirror: is required for type "RequestMirror"`,
		},
		"filter of another type": {
			Conf: filter(`{type: RequestMirror, requestMirror: {backendRef: {kind: MeshService, name: a}}, urlRewrite: {hostname: a.b}}`),
			Want: `p.yaml:2:138: spec.to[0].rules[0].default.filters[0].urlRewrite: is not allowed with type "RequestMirror"; remove it or change the type`,
		},
		"empty modifier": {
			Conf: filter(`{type: RequestHeaderModifier, requestHeaderModifier: {}}`),
			Want: `p.yaml:2:98: spec.to[0].rules[0].default.filters[0].requestHeaderModifier: must change a header; give set, add or remove`,
		},
		"header set and removed": {
			Conf: filter(`{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: a, value: b}], remove: [A]}}`),
			Want: `p.yaml:2:138: spec.to[0].rules[0].default.filters[0].responseHeaderModifier.remove[0]: duplicate header "A"; one change for each header`,
		},
		"redirect's status": {
			Conf: filter(`{type: RequestRedirect, requestRedirect: {statusCode: 200}}`),
			Want: `p.yaml:2:99: spec.to[0].rules[0].default.filters[0].requestRedirect.statusCode: must be one of 301, 302, 303, 307 and 308`,
		},
		"redirect to an address": {
			Conf: filter(`{type: RequestRedirect, requestRedirect: {hostname: 192.0.2.1}}`),
			Want: `p.yaml:2:97: spec.to[0].rules[0].default.filters[0].requestRedirect.hostname: bad host name "192.0.2.1"; write a name in lower case, such as example.com`,
		},
		"rewrite without its arm": {
			Conf: filter(`{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath}}}`),
			Want: `p.yaml:2:83: spec.to[0].rules[0].default.filters[0].urlRewrite.path.replaceFullPath: is required for type "ReplaceFullPath"`,
		},
		"two host names": {
			Conf: filter(`{type: URLRewrite, urlRewrite: {hostname: a.b, hostToBackendHostname: true}}`),
			Want: `p.yaml:2:115: spec.to[0].rules[0].default.filters[0].urlRewrite.hostToBackendHostname: is not allowed with hostname; use one of them`,
		},
		"no prefix to replace": {
			Conf: rule(`{path: {type: PathPrefix, value: /a}}, {method: GET}`, `filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}}}]`),
			Want: `p.yaml:2:180: spec.to[0].rules[0].default.filters[0].urlRewrite.path.replacePrefixMatch: every match of the rule must have a path of type "PathPrefix"; use ReplaceFullPath`,
		},
		"no prefix to redirect by": {
			Conf: filter(`{type: RequestRedirect, requestRedirect: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}}}`),
			Want: `p.yaml:2:140: spec.to[0].rules[0].default.filters[0].requestRedirect.path.replacePrefixMatch: every match of the rule must have a path of type "PathPrefix"; use ReplaceFullPath`,
		},
		"backend's kind": {
			Conf: rule("{}", `backendRefs: [{kind: Mesh, name: a}]`),
			Want: `p.yaml:2:56: spec.to[0].rules[0].default.backendRefs[0].kind: unknown value "Mesh"; did you mean "MeshService"?`,
		},
		"backend's tags missing": {
			Conf: rule("{}", `backendRefs: [{kind: MeshServiceSubset, name: a}]`),
			Want: `p.yaml:2:49: spec.to[0].rules[0].default.backendRefs[0].tags: required field is missing for kind MeshServiceSubset`,
		},
		"backend's tags foreign": {
			Conf: rule("{}", `backendRefs: [{kind: MeshService, name: a, tags: {b: c}}]`),
			Want: `p.yaml:2:84: spec.to[0].rules[0].default.backendRefs[0].tags: do not belong to kind MeshService; remove them or use kind MeshServiceSubset`,
		},
		"every service as a backend": {
			Conf: rule("{}", `backendRefs: [{kind: MeshService, name: "*"}]`),
			Want: `p.yaml:2:75: spec.to[0].rules[0].default.backendRefs[0].name: bad service name "*"; a service name has letters, digits, '.', '_', ':' and '-'`,
		},
		"negative weight": {
			Conf: rule("{}", `backendRefs: [{kind: MeshService, name: a, weight: -1}]`),
			Want: `p.yaml:2:86: spec.to[0].rules[0].default.backendRefs[0].weight: -1 is out of range (uint32)`,
		},
	})
}

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshhttproute.Kind(), map[string]kindtest.Case{
		"status of a redirect": {
			Conf: `rules: [{matches: [{}], default: {filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}}]`,
			Want: `{"rules":[{"matches":[{}],"default":{"filters":[{"type":"RequestRedirect","requestRedirect":{"scheme":"https","statusCode":302}}]}}]}`,
		},
	})
}
