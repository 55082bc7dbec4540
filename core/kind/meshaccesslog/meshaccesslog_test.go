package meshaccesslog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshaccesslog.Kind(), `
type: MeshAccessLog
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  to:
    - targetRef: {kind: Mesh, name: default}
      default:
        backends:
          - type: Tcp
            tcp:
              address: 127.0.0.1:5000
              format: {type: Plain, plain: "[%START_TIME%]", omitEmptyValues: false}
          - type: File
            file:
              path: /tmp/access.log
              format: {type: Json, json: [{key: start, value: "%START_TIME%"}, {key: mesh, value: m}], omitEmptyValues: true}
          - type: OpenTelemetry
            openTelemetry:
              endpoint: otel-collector:4317
              attributes: [{key: mesh, value: "%KUMA_MESH%"}]
              body: {kvlistValue: {values: [{key: mesh, value: {stringValue: "%KUMA_MESH%"}}, 1, 2.5, true]}}
          - type: OpenTelemetry
            openTelemetry:
              backendRef: {kind: MeshOpenTelemetryBackend, name: main}
          - type: OpenTelemetry
            openTelemetry:
              backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}
  from:
    - targetRef: {kind: Mesh, name: default}
      default: {backends: []}
`, `
type: MeshAccessLog
mesh: default
name: by-match
spec:
  targetRef: {kind: MeshHTTPRoute, name: edge}
  rules:
    - matches: [{sni: web.example}]
      default: {backends: [{type: File, file: {path: /dev/stdout}}]}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshaccesslog.Kind(), map[string]kindtest.Case{
		"an operator that Envoy does not have": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Plain, plain: "%START_TIME% %NO_SUCH%"}}}]}`,
			Want: `p.yaml:2:72: spec.to[0].default.backends[0].file.format.plain: unknown operator "NO_SUCH"; see Envoy's command operators; the operators of the mesh are KUMA_MESH, KUMA_ZONE, KUMA_WORKLOAD, KUMA_SOURCE_SERVICE, KUMA_DESTINATION_SERVICE, KUMA_SOURCE_ADDRESS, KUMA_SOURCE_ADDRESS_WITHOUT_PORT, KUMA_TRAFFIC_DIRECTION`,
		},
		"an operator without its arguments": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Json, json: [{key: k, value: "%REQ%"}]}}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].file.format.json[0].value: operator REQ needs arguments; write such as %REQ(NAME)%`,
		},
		"an operator with arguments that it does not take": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Json, json: [{key: k, value: "%DURATION(ms)%"}]}}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].file.format.json[0].value: operator DURATION does not take the arguments "ms"; see Envoy's command operators`,
		},
		"an operator with a length that it does not have": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Json, json: [{key: k, value: "%DURATION:3%"}]}}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].file.format.json[0].value: operator DURATION has no length; leave the length out`,
		},
		"an operator of the mesh with a length": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Json, json: [{key: k, value: "%KUMA_MESH:3%"}]}}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].file.format.json[0].value: operator KUMA_MESH has no arguments and no length; write %KUMA_MESH%`,
		},
		"a percent sign": {
			Conf: `{backends: [{type: File, file: {path: /l, format: {type: Plain, plain: "100% of 50%%"}}}]}`,
			Want: `p.yaml:2:72: spec.to[0].default.backends[0].file.format.plain: a % that begins no operator; write %% for a percent sign`,
		},
		"attribute with an operator": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", attributes: [{key: "%KUMA_ZONE%", value: a}]}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].openTelemetry.attributes[0].key: bad attribute name "%KUMA_ZONE%"; use lower-case letters, digits, and . or _ between them, such as mesh.zone`,
		},
		"attribute with two dots": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", attributes: [{key: a..b, value: a}]}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].openTelemetry.attributes[0].key: bad attribute name "a..b"; use lower-case letters, digits, and . or _ between them, such as mesh.zone`,
		},
		"reserved attribute": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", attributes: [{key: otel.a, value: a}]}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].openTelemetry.attributes[0].key: names that begin with otel. are reserved; use another name`,
		},
		"endpoint without a port": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: otel}}]}`,
			Want: `p.yaml:2:61: spec.to[0].default.backends[0].openTelemetry.endpoint: bad endpoint "otel"; write host:port, such as collector.infra:4317, or http://host:port`,
		},
		"unknown type": {
			Conf: `{backends: [{type: TCP}]}`,
			Want: `p.yaml:2:20: spec.to[0].default.backends[0].type: unknown value "TCP"; did you mean "Tcp"?`,
		},
		"arm missing": {
			Conf: `{backends: [{type: File}]}`,
			Want: `p.yaml:2:13: spec.to[0].default.backends[0].file: is required for type "File"`,
		},
		"arm of another type": {
			In:   "from",
			Conf: `{backends: [{type: File, file: {path: /a}, tcp: {address: "a:1"}}]}`,
			Want: `p.yaml:2:49: spec.from[0].default.backends[0].tcp: is not allowed with type "File"; remove it or change the type`,
		},
		"address without a port": {
			Conf: `{backends: [{type: Tcp, tcp: {address: logstash}}]}`,
			Want: `p.yaml:2:40: spec.to[0].default.backends[0].tcp.address: bad address "logstash"; write host:port, such as 127.0.0.1:5000`,
		},
		"relative path": {
			In:   "rules",
			Conf: `{backends: [{type: File, file: {path: access.log}}]}`,
			Want: `p.yaml:2:39: spec.rules[0].default.backends[0].file.path: must be a path that starts with /`,
		},
		"no way to the collector": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {}}]}`,
			Want: `p.yaml:2:50: spec.to[0].default.backends[0].openTelemetry.endpoint: required field is missing; or give a backendRef`,
		},
		"two ways to the collector": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", backendRef: {kind: MeshOpenTelemetryBackend, name: a}}}]}`,
			Want: `p.yaml:2:80: spec.to[0].default.backends[0].openTelemetry.backendRef: endpoint and backendRef are both present; use one of them`,
		},
		"attribute without a key": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", attributes: [{key: "", value: a}]}}]}`,
			Want: `p.yaml:2:87: spec.to[0].default.backends[0].openTelemetry.attributes[0].key: must not be empty`,
		},
		"format of another type": {
			Conf: `{backends: [{type: File, file: {path: /a, format: {type: Plain, json: []}}}]}`,
			Want: "p.yaml:2:51: spec.to[0].default.backends[0].file.format.plain: is required for type \"Plain\"\n" +
				`p.yaml:2:71: spec.to[0].default.backends[0].file.format.json: is not allowed with type "Plain"; remove it or change the type`,
		},
		"format without fields": {
			Conf: `{backends: [{type: File, file: {path: /a, format: {type: Json, json: []}}}]}`,
			Want: `p.yaml:2:70: spec.to[0].default.backends[0].file.format.json: must not be empty; leave the format out for Envoy's own`,
		},
		"format without text": {
			Conf: `{backends: [{type: File, file: {path: /a, format: {type: Plain, plain: ""}}}]}`,
			Want: `p.yaml:2:72: spec.to[0].default.backends[0].file.format.plain: must not be empty; leave the format out for Envoy's own`,
		},
		"field twice": {
			Conf: `{backends: [{type: File, file: {path: /a, format: {type: Json, json: [{key: a, value: b}, {key: a, value: c}]}}}]}`,
			Want: `p.yaml:2:97: spec.to[0].default.backends[0].file.format.json[1].key: duplicate key "a"`,
		},
		"field without a value": {
			Conf: `{backends: [{type: File, file: {path: /a, format: {type: Json, json: [{key: "", value: ""}]}}}]}`,
			Want: "p.yaml:2:77: spec.to[0].default.backends[0].file.format.json[0].key: must not be empty\n" +
				`p.yaml:2:88: spec.to[0].default.backends[0].file.format.json[0].value: must not be empty`,
		},
	})
}

// A client that chooses the text of one field must not be able to write the
// next field.
func TestWarnedOfSeparators(t *testing.T) {
	plain := func(format string) string {
		return `{backends: [{type: File, file: {path: /l, format: {type: Plain, plain: '` + format + `'}}}]}`
	}
	const at = "p.yaml:2:72: spec.to[0].default.backends[0].file.format.plain: "
	warning := func(operator string) string {
		return "the value of " + operator + " is text from a client: it can contain a separator and forge other fields; use the format Json, or leave the format out"
	}
	kindtest.Warned(t, meshaccesslog.Kind(), map[string]kindtest.Case{
		"a header and another field":     {Conf: plain("%REQ(user-agent)% %RESPONSE_CODE%"), Want: at + warning("%REQ(user-agent)%")},
		"in quotes":                      {Conf: plain(`%RESPONSE_CODE% "%REQUEST_HEADER(x-forwarded-for):20%"`), Want: at + warning("%REQUEST_HEADER(x-forwarded-for):20%")},
		"a path":                         {Conf: plain("%PATH(WQ:ORIG)% %PROTOCOL%"), Want: at + warning("%PATH(WQ:ORIG)%")},
		"a parameter of the query":       {Conf: plain("%KUMA_MESH% %QUERY_PARAM(id)%"), Want: at + warning("%QUERY_PARAM(id)%")},
		"one of several":                 {Conf: plain(`%KUMA_MESH% %COALESCE({"operators": [{"command": "REQ", "param": "a"}]})%`), Want: at + warning(`%COALESCE({"operators": [{"command": "REQ", "param": "a"}]})%`)},
		"a header alone":                 {Conf: plain("100%% of %REQ(user-agent)%")},
		"fields that the proxy has seen": {Conf: plain("%START_TIME% %DOWNSTREAM_REMOTE_ADDRESS% %RESPONSE_CODE%")},
		"JSON":                           {Conf: `{backends: [{type: File, file: {path: /l, format: {type: Json, json: [{key: a, value: "%REQ(a)%"}, {key: b, value: "%PROTOCOL%"}]}}}]}`},
		"a body that is one text": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", body: "%REQ(:PATH)% %RESPONSE_CODE%"}}]}`,
			Want: "p.yaml:2:74: spec.to[0].default.backends[0].openTelemetry.body: " + warning("%REQ(:PATH)%"),
		},
		"a body with fields": {Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "o:1", body: {path: "%REQ(:PATH)%", code: "%RESPONSE_CODE%"}}}]}`},
	})
}

// No author writes an expression of CEL, which a proxy would evaluate for each request.
func TestExpressionsOfCEL(t *testing.T) {
	list := strings.Repeat("[1, 2, 3].all(x, ", 20) + "true" + strings.Repeat(")", 20)
	for _, expression := range []string{"request.path", list, strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000), strings.Repeat("%CEL(", 1000)} {
		for _, operator := range []string{"CEL", "TYPED_CEL"} {
			text := fmt.Sprintf("type: MeshAccessLog\nmesh: default\nname: p\nspec: {rules: [{default: {backends: [{type: File, file: {path: /l, format: {type: Plain, plain: '%%%s(%s)%%'}}}]}}]}\n", operator, expression)
			_, err := (&resource.Loader{Kinds: resource.NewKinds(meshaccesslog.Kind())}).Decode(t.Context(), resource.Input{Name: "p.yaml", Data: []byte(text)})
			if err == nil || !strings.Contains(err.Error(), "operator") {
				t.Errorf("%s of %.40s: %v", operator, expression, err)
			}
		}
	}
}
