package meshtls_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshtls"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshtls.Kind(), `
type: MeshTLS
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  from:
    - targetRef: {kind: Mesh, name: default}
      default:
        mode: Permissive
        tlsVersion: {min: TLS12, max: TLS13}
        tlsCiphers: [ECDHE-RSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305]
`, `
type: MeshTLS
mesh: default
name: of-an-inbound
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  rules:
    - default: {mode: Strict, tlsVersion: {min: TLS13, max: TLSAuto}}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshtls.Kind(), map[string]kindtest.Case{
		"mode": {
			Conf: `{mode: STRICT}`,
			Want: `p.yaml:2:8: spec.rules[0].default.mode: unknown value "STRICT"; did you mean "Strict"?`,
		},
		"version": {
			In:   "from",
			Conf: `{tlsVersion: {min: "1.2"}}`,
			Want: `p.yaml:2:20: spec.from[0].default.tlsVersion.min: unknown value "1.2"; one of "TLSAuto", "TLS10", "TLS11", "TLS12", "TLS13"`,
		},
		"no version between the bounds": {
			Conf: `{tlsVersion: {min: TLS13, max: TLS12}}`,
			Want: `p.yaml:2:20: spec.rules[0].default.tlsVersion.min: must not be later than max (TLS12)`,
		},
		"cipher without forward secrecy": {
			Conf: `{tlsCiphers: [AES128-GCM-SHA256]}`,
			Want: `p.yaml:2:15: spec.rules[0].default.tlsCiphers[0]: unknown value "AES128-GCM-SHA256"; one of "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"`,
		},
	})
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshtls.Kind(), map[string]kindtest.Case{
		"versions":  {In: "rules", Conf: `{tlsVersion: {}}`, Want: `p.yaml:2:14: spec.rules[0].default.tlsVersion: sets nothing; set a field, or remove it`},
		"a version": {In: "rules", Conf: `{tlsVersion: {min: TLS12}}`, Want: ``},
	})
}
