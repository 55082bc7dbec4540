package meshhealthcheck_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshhealthcheck"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshhealthcheck.Kind(), `
type: MeshHealthCheck
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  to:
    - targetRef: {kind: MeshServiceSubset, name: backend, tags: {version: v1}}
      default:
        interval: 10s
        timeout: 2s
        unhealthyThreshold: 3
        healthyThreshold: 1
        initialJitter: 5s
        intervalJitter: 6s
        intervalJitterPercent: 10
        healthyPanicThreshold: 60
        failTrafficOnPanic: true
        eventLogPath: /tmp/health.log
        alwaysLogHealthCheckFailures: true
        noTrafficInterval: 1m
        reuseConnection: false
        tcp: {disabled: false, send: Zm9v, receive: [YmFy, ""]}
        http:
          disabled: true
          path: /health
          requestHeadersToAdd:
            set: [{name: x-check, value: "1"}]
            add: [{name: x-other, value: ""}]
          expectedStatuses: [200, 201, 503]
        grpc: {disabled: false, serviceName: health, authority: backend.example}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshhealthcheck.Kind(), map[string]kindtest.Case{
		"zero interval":  {Conf: `{interval: 0s}`, Want: `p.yaml:2:12: spec.to[0].default.interval: must be longer than 0s`},
		"zero threshold": {Conf: `{healthyThreshold: 0}`, Want: `p.yaml:2:20: spec.to[0].default.healthyThreshold: must be at least 1`},
		"jitter percent": {Conf: `{intervalJitterPercent: 200}`, Want: `p.yaml:2:25: spec.to[0].default.intervalJitterPercent: must be from 0 to 100`},
		"panic threshold": {
			Conf: `{healthyPanicThreshold: -1}`,
			Want: `p.yaml:2:25: spec.to[0].default.healthyPanicThreshold: must be from 0 to 100`,
		},
		"control character in an authority": {
			Conf: `{grpc: {authority: "a\nb"}}`,
			Want: `p.yaml:2:20: spec.to[0].default.grpc.authority: an authority must not have a control character; remove it`,
		},
		"relative log path": {
			Conf: `{eventLogPath: health.log}`,
			Want: `p.yaml:2:16: spec.to[0].default.eventLogPath: must be a path that starts with /`,
		},
		"no base64": {
			Conf: `{tcp: {send: "%"}}`,
			Want: `p.yaml:2:14: spec.to[0].default.tcp.send: bad base64: illegal base64 data at input byte 0; encode the bytes; the text itself is JQ==`,
		},
		"no base64 in a list": {
			Conf: `{tcp: {receive: [Zm9v, "%"]}}`,
			Want: `p.yaml:2:24: spec.to[0].default.tcp.receive[1]: bad base64: illegal base64 data at input byte 0; encode the bytes; the text itself is JQ==`,
		},
		"no status": {
			Conf: `{http: {expectedStatuses: [200, 600]}}`,
			Want: `p.yaml:2:33: spec.to[0].default.http.expectedStatuses[1]: must be an HTTP status, from 100 to 599`,
		},
		"empty path": {
			Conf: `{http: {path: ""}}`,
			Want: `p.yaml:2:15: spec.to[0].default.http.path: must be a path that starts with /`,
		},
		"header twice": {
			Conf: `{http: {requestHeadersToAdd: {set: [{name: x, value: a}], add: [{name: X, value: b}]}}}`,
			Want: `p.yaml:2:72: spec.to[0].default.http.requestHeadersToAdd.add[0].name: duplicate header "X"; one change for each header`,
		},
	})
}

// Texts that are not encoded are reported; base64 of a text or of a message is not.
func TestUnencodedText(t *testing.T) {
	for text, want := range map[string]string{
		"PING": "UElORw==", "ruok": "cnVvaw==", "QUIT": "UVVJVA==", "Pong": "UG9uZw==", "hello123": "aGVsbG8xMjM=",
		"+PING123": "K1BJTkcxMjM=", "PING\r\n": "UElORw0K", "50494e47": "UElORw==", "2b50": "K1A=", "2b504f4e470d": "K1BPTkcN",
		"": "", "Zm9v": "", "cGluZw==": "", "UElORw0K": "", "K1BPTkcNCg==": "", "AAAA": "", "AAAAAQ==": "", "SgAAAAo4": "",
		"UElO\nRw==": "", "yMlLtw==": "", "4oKs": "",
	} {
		var sink diag.Sink
		meshhealthcheck.Base64(text).Validate(diag.Root(diag.GoValue("send"), &sink))
		if err := sink.Err(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		got := ""
		for _, w := range sink.Warnings() {
			got = strings.TrimPrefix(w.Hint, "if the text is meant, write ")
		}
		if got != want {
			t.Errorf("%q: got a hint to write %q, want %q", text, got, want)
		}
	}
}

func TestBase64(t *testing.T) {
	if got := string(meshhealthcheck.Base64("Zm9v").Bytes()); got != "foo" {
		t.Errorf("got %q, want foo", got)
	}
}
