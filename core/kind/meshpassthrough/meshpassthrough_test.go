package meshpassthrough_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshpassthrough.Kind(), `
type: MeshPassthrough
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default, proxyTypes: [Sidecar]}
  default:
    passthroughMode: Matched
    appendMatch:
      - {type: Domain, value: api.example.com, port: 443, protocol: tls}
      - {type: Domain, value: "*.example.com", port: 80, protocol: http}
      - {type: Domain, value: "*.example.org", protocol: tls}
      - {type: Domain, value: "*", port: 80, protocol: http2}
      - {type: IP, value: 10.42.0.8, port: 9090, protocol: grpc}
      - {type: IP, value: "2001:db8::1", protocol: tcp}
      - {type: CIDR, value: 10.250.0.0/16, port: 3306, protocol: mysql}
      - {type: CIDR, value: "fd00::/8", protocol: tcp}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshpassthrough.Kind(), map[string]kindtest.Case{
		"mode": {
			Conf: `{passthroughMode: Some}`,
			Want: `p.yaml:2:19: spec.default.passthroughMode: unknown value "Some"; did you mean "None"?`,
		},
		"type": {
			Conf: `{appendMatch: [{type: Host, value: a}]}`,
			Want: `p.yaml:2:23: spec.default.appendMatch[0].type: unknown value "Host"; one of "Domain", "IP", "CIDR"`,
		},
		"address": {
			Conf: `{appendMatch: [{type: IP, value: 10.0.0.256}]}`,
			Want: `p.yaml:2:34: spec.default.appendMatch[0].value: bad IP address "10.0.0.256"; write an address such as 192.0.2.1 or 2001:db8::1`,
		},
		"range": {
			Conf: `{appendMatch: [{type: CIDR, value: 10.0.0.1}]}`,
			Want: `p.yaml:2:36: spec.default.appendMatch[0].value: bad CIDR "10.0.0.1"; write a range such as 192.0.2.0/24`,
		},
		"an address as a domain": {
			Conf: `{appendMatch: [{type: Domain, value: 192.0.2.1, port: 1, protocol: tls}]}`,
			Want: `p.yaml:2:38: spec.default.appendMatch[0].value: "192.0.2.1" is an address, not a domain; write type: IP`,
		},
		"domain": {
			Conf: `{appendMatch: [{type: Domain, value: "a b", protocol: tls}]}`,
			Want: `p.yaml:2:38: spec.default.appendMatch[0].value: bad domain "a b"; write a name such as example.com or *.example.com`,
		},
		"part of a label as a wildcard": {
			Conf: `{appendMatch: [{type: Domain, value: "*a.com", port: 1, protocol: tls}]}`,
			Want: `p.yaml:2:38: spec.default.appendMatch[0].value: bad domain "*a.com"; write a name such as example.com or *.example.com`,
		},
		"domain by the default protocol": {
			Conf: `{appendMatch: [{type: Domain, value: a.com, port: 1}]}`,
			Want: `p.yaml:2:16: spec.default.appendMatch[0].protocol: protocol "tcp" does not contain the domain; use tls, http, http2 or grpc`,
		},
		"wildcard on every port": {
			Conf: `{appendMatch: [{type: Domain, value: "*.a.com", protocol: grpc}]}`,
			Want: `p.yaml:2:16: spec.default.appendMatch[0].port: is required for a wildcard with protocol "grpc"`,
		},
		"database on every port": {
			Conf: `{appendMatch: [{type: IP, value: 10.0.0.1, protocol: mysql}]}`,
			Want: `p.yaml:2:16: spec.default.appendMatch[0].port: is required for protocol "mysql": its server speaks first`,
		},
		"port": {
			Conf: `{appendMatch: [{type: IP, value: 10.0.0.1, port: 0}]}`,
			Want: `p.yaml:2:50: spec.default.appendMatch[0].port: bad port 0; a port is a number from 1 to 65535`,
		},
	})
}

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshpassthrough.Kind(), map[string]kindtest.Case{
		"protocol": {Conf: `{appendMatch: [{type: IP, value: 10.0.0.1}]}`, Want: `{"appendMatch":[{"type":"IP","value":"10.0.0.1","protocol":"tcp"}]}`},
	})
}
