package resource_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

func TestMeshIdentityErrors(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"valid, Bundled":       {`{selector: {dataplane: {}}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}, meshTrustCreation: Enabled, insecureAllowSelfSigned: true, certificateParameters: {expiry: 24h}}}}`, ``},
		"valid, CA in files":   {`{provider: {type: Bundled, bundled: {ca: {certificate: {type: File, file: {path: /a}}, privateKey: {type: EnvVar, envVar: {name: A}}}}}}`, ``},
		"valid, Spire":         {`{provider: {type: Spire, spire: {agent: {timeout: 1s}}}}`, ``},
		"valid, Spire alone":   {`{provider: {type: Spire}}`, ``},
		"valid, files":         {`{spiffeID: {trustDomain: "{{ .Mesh }}", path: "/{{ label \"a\" }}"}, provider: {type: Extension, extension: {name: files, config: {certificate: "/{{ .Name }}.pem", privateKey: /k, trustBundle: /b}}}}`, ``},
		"no provider":          {`{}`, `3:7: spec.provider: required field is missing`},
		"provider type":        {`{provider: {type: Spyre}}`, `3:25: spec.provider.type: unknown value "Spyre"; did you mean "Spire"?`},
		"valid, CA in Secrets": {`{provider: {type: Bundled, bundled: {ca: {certificate: {type: Secret, secretRef: {kind: Secret, name: a}}, privateKey: {type: SecretRef, secretRef: {kind: Secret, name: b}}}}}}`, ``},
		"no Secret":            {`{provider: {type: Bundled, bundled: {ca: {certificate: {type: Secret, file: {path: /a}}, privateKey: {type: File, file: {path: /b}}}}}}`, "3:62: spec.provider.bundled.ca.certificate.secretRef: is required for type \"Secret\"\nin.yaml:3:83: spec.provider.bundled.ca.certificate.file: is not allowed with type \"Secret\"; remove it or change the type"},
		"other arm":            {`{provider: {type: Spire, bundled: {autogenerate: {enabled: true}}}}`, `3:41: spec.provider.bundled: is not allowed with type "Spire"; remove it or change the type`},
		"no CA":                {`{provider: {type: Bundled, bundled: {}}}`, `3:43: spec.provider.bundled.ca: required field is missing; or write autogenerate: {enabled: true}`},
		"not generated":        {`{provider: {type: Bundled, bundled: {autogenerate: {enabled: false}}}}`, `3:43: spec.provider.bundled.ca: required field is missing; or write autogenerate: {enabled: true}`},
		"Bundled alone":        {`{provider: {type: Bundled}}`, `3:18: spec.provider.bundled: is required for type "Bundled"`},
		"Extension alone":      {`{provider: {type: Extension}}`, `3:18: spec.provider.extension: is required for type "Extension"`},
		"extension":            {`{provider: {type: Extension, extension: {name: vault, config: {certificate: /c, privateKey: /k, trustBundle: /b}}}}`, `3:54: spec.provider.extension.name: unknown value "vault"; one of "files"`},
		"no configuration":     {`{provider: {type: Extension, extension: {name: files}}}`, `3:47: spec.provider.extension.config: required field is missing`},
		"two CAs":              {`{provider: {type: Bundled, bundled: {autogenerate: {enabled: true}, ca: {certificate: {type: File, file: {path: /a}}, privateKey: {type: File, file: {path: /b}}}}}}`, `3:79: spec.provider.bundled.ca: ca and autogenerate are both present; remove one`},
		"relative path":        {`{spiffeID: {path: a}, provider: {type: Spire}}`, `3:25: spec.spiffeID.path: must be a path that starts with /`},
		"empty trust domain":   {`{spiffeID: {trustDomain: ""}, provider: {type: Spire}}`, `3:32: spec.spiffeID.trustDomain: must not be empty; leave it out for the default`},
		"selector":             {`{selector: {dataplane: {matchLabel: {}}}, provider: {type: Spire}}`, `3:31: spec.selector.dataplane.matchLabel: unknown field; did you mean "matchLabels"?`},
		"template":             {`{spiffeID: {path: "/{{ .Zon }}"}, provider: {type: Spire}}`, `3:25: spec.spiffeID.path: bad template: {{.Zon}}: not one of the variables; variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label "key" }}`},
		"template of a file":   {`{provider: {type: Extension, extension: {name: files, config: {certificate: "{{ label }}", privateKey: /k, trustBundle: /b}}}}`, `3:83: spec.provider.extension.config.certificate: bad template: {{label}}: not one of the variables; variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label "key" }}`},
		"syntax of templates":  {`{spiffeID: {path: "/{{ .Zone"}, provider: {type: Spire}}`, `3:25: spec.spiffeID.path: bad template: line 1: unclosed action; variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label "key" }}`},
	} {
		t.Run(name, func(t *testing.T) { checkSpec(t, "MeshIdentity", c.spec, c.want) })
	}
}

// checkSpec checks the only error of a document whose spec begins in line 3,
// column 7, or checks that there is no error.
func checkSpec(t *testing.T, kind, spec, want string) {
	t.Helper()
	if want != "" {
		want = "in.yaml:" + want
	}
	if _, got := decode(t, "type: "+kind+"\nname: a\nspec: "+spec+"\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const certificate = `-----BEGIN CERTIFICATE-----
MIIBdjCCAR2gAwIBAgIUW1cEx3ZrzxkCgLmvN3rJ0c0nqJkwCgYIKoZIzj0EAwIw
-----END CERTIFICATE-----
`

func TestMeshTrustErrors(t *testing.T) {
	inline := func(text string) string {
		return `{trustDomain: td, caBundles: [{type: Pem, pem: {value: "` + strings.ReplaceAll(text, "\n", `\n`) + `"}}]}`
	}
	const hint = "; write the text between -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----, with these lines"
	for name, c := range map[string]struct{ spec, want string }{
		"valid":              {inline(testCA), ``},
		"valid, two":         {inline(testCA + testCA), ``},
		"valid, made by":     {strings.Replace(inline(testCA), "{", "{origin: {kri: kri_mid_a____b_}, ", 1), ``},
		"no trust domain":    {`{caBundles: []}`, "3:7: spec.trustDomain: required field is missing\nin.yaml:3:19: spec.caBundles: must not be empty; give a bundle of CA certificates"},
		"trust domain":       {strings.Replace(inline(testCA), "td", "TD", 1), `3:21: spec.trustDomain: bad trust domain "TD": the trust domain has lower-case letters, digits, '.', '-' and '_' only; write a name such as prod.mesh.local`},
		"long trust domain":  {strings.Replace(inline(testCA), "td", strings.Repeat("t", 256), 1), `3:21: spec.trustDomain: bad trust domain "` + strings.Repeat("t", 256) + `": the trust domain is longer than 255 bytes; write a name such as prod.mesh.local`},
		"no bundles":         {`{trustDomain: td}`, `3:7: spec.caBundles: required field is missing`},
		"bundle type":        {strings.Replace(inline(testCA), "Pem", "PEM", 1), `3:44: spec.caBundles[0].type: unknown value "PEM"; did you mean "Pem"?`},
		"no PEM":             {`{trustDomain: td, caBundles: [{type: Pem}]}`, `3:37: spec.caBundles[0].pem: is required for type "Pem"`},
		"no certificate":     {inline("hello"), `3:62: spec.caBundles[0].pem.value: bad PEM` + hint},
		"empty":              {inline(""), `3:62: spec.caBundles[0].pem.value: bad PEM` + hint},
		"a key":              {inline("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), `3:62: spec.caBundles[0].pem.value: must contain certificates only, not a PRIVATE KEY` + hint},
		"text after it":      {inline(testCA + "more"), `3:62: spec.caBundles[0].pem.value: bad PEM` + hint},
		"broken certificate": {inline(certificate), `3:62: spec.caBundles[0].pem.value: bad certificate: x509: malformed certificate` + hint},
	} {
		t.Run(name, func(t *testing.T) { checkSpec(t, "MeshTrust", c.spec, c.want) })
	}
}

// Both load in the Kubernetes spelling and without a status.
func TestIdentityAndTrustLoad(t *testing.T) {
	set, errs := decode(t, `
{apiVersion: kuma.io/v1alpha1, kind: MeshIdentity, metadata: {name: i, namespace: kuma-system, labels: {kuma.io/mesh: prod}}, spec: {provider: {type: Spire}}, status: {conditions: []}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTrust, metadata: {name: t, namespace: kuma-system, labels: {kuma.io/mesh: prod}}, spec: {trustDomain: td, caBundles: [{type: Pem, pem: {value: "`+strings.ReplaceAll(testCA, "\n", `\n`)+`"}}]}}
`)
	if errs != "" {
		t.Fatal(errs)
	}
	if got := set.Objects[1].(*resource.MeshTrust).Spec.TrustDomain; got != "td" {
		t.Errorf("trust domain %q", got)
	}
	for _, kind := range []string{"MeshIdentity", "MeshTrust"} {
		checkSpec(t, kind, "{}\nnetworking: {}", map[string]string{
			"MeshIdentity": "3:7: spec.provider: required field is missing\nin.yaml:4:1: networking: unknown field; one of \"type\", \"mesh\", \"name\", \"labels\", \"spec\"",
			"MeshTrust":    "3:7: spec.caBundles: required field is missing\nin.yaml:3:7: spec.trustDomain: required field is missing\nin.yaml:4:1: networking: unknown field; one of \"type\", \"mesh\", \"name\", \"labels\", \"spec\"",
		}[kind])
	}
	if _, got := decode(t, "{type: MeshTrust, name: a}"); got != "in.yaml:1:1: spec: required field is missing" {
		t.Errorf("got %s", got)
	}
}

const testCA = `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUHdGSXyUq7fuFlXA7EuOTPrYvcSQwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwMTQwMjRaGA8yMTI2MTAyOTAxNDAy
NFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABB6+
TuJI0bgs2UhyGr9oL8NCNCINFpgo2iDuFyIemG12ikAoGfUa12y0KjQNNoUJyEd2
E8k9xsSXAKm18UoXOCyjUzBRMB0GA1UdDgQWBBTYK4buwydQQXZqyGv9lT9ID7P7
mjAfBgNVHSMEGDAWgBTYK4buwydQQXZqyGv9lT9ID7P7mjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQC91lN3CV18G00vCqmxxv98cz4HbvkSE+F3
66+J1NClNAIhAP9klXERDnI/4WA6xXfFLIqTtdIXL8l6G/iqlV5GMMbm
-----END CERTIFICATE-----
`
