package specs_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// findings decodes a spec, and returns the code and the path of each error, by position.
func findings(spec any, text string) string {
	var sink diag.Sink
	for doc := range strict.Documents("f", strict.Chunks([]byte(text), 1)[0], strict.DefaultLimits, &sink) {
		strict.Decode(doc.Root(), spec)
	}
	var all diag.Errors
	errors.As(sink.Err(), &all)
	var found []string
	for _, d := range all {
		found = append(found, strings.TrimSuffix(d.Code.String()+" "+d.Path, " "))
	}
	return strings.Join(found, "; ")
}

// decoded returns the spec of a document without errors.
func decoded[T any](t *testing.T, text string) *T {
	t.Helper()
	spec := new(T)
	if found := findings(spec, text); found != "" {
		t.Fatalf("%s: %s", text, found)
	}
	return spec
}

// What each kind may have (SPEC 17.2, 13.3). Each row has the codes and paths of the errors.
func TestSpecs(t *testing.T) {
	type (
		service   = specs.MeshService
		external  = specs.MeshExternalService
		multiZone = specs.MeshMultiZoneService
		hostnames = specs.HostnameGenerator
		gateway   = specs.MeshGateway
		route     = specs.MeshGatewayRoute
		test      = specs.AccessTest
	)
	const (
		match     = "match: {type: HostnameGenerator, port: 443, protocol: tcp}"
		selectors = "selectors: [{match: {kuma.io/service: edge}}]"
	)
	for _, c := range []struct {
		rule       string
		spec       any
		text, want string
	}{
		{"MeshService: without a selector it selects no dataplane", &service{}, "{ports: [{port: 80, targetPort: http}, {port: 81, targetPort: 8081}]}", ""},
		{"MeshService: at most one selector", &service{}, "{selector: {dataplaneTags: {a: b}, dataplaneRef: {name: d}, dataplaneLabels: {matchLabels: {a: b}}}}",
			"MM0107 selector.dataplaneRef; MM0107 selector.dataplaneLabels"},
		{"MeshService: ports are from 1 to 65535", &service{}, "{ports: [{port: 0}, {port: 65536}, {port: 1, targetPort: 0}]}",
			"MM0110 ports[0].port; MM0110 ports[1].port; MM0110 ports[2].targetPort"},
		{"MeshService: numbers and names of ports are unique", &service{}, "{ports: [{port: 80, name: a}, {port: 80}, {port: 81, name: a}]}", "MM0104 ports[1].port; MM0104 ports[2].name"},
		{"MeshService: types of identities", &service{}, "{identities: [{type: SpiffeID, value: a}, {type: ServiceTag, value: b}, {type: Other, value: c}]}", "MM0109 identities[2].type"},
		{"MeshMultiZoneService: labels and ports are not empty", &multiZone{}, "{selector: {meshService: {matchLabels: {}}}, ports: []}", "MM0108 selector.meshService.matchLabels; MM0108 ports"},
		{"MeshMultiZoneService: its ports have no targetPort", &multiZone{}, "{selector: {meshService: {matchLabels: {a: b}}}, ports: [{port: 80, targetPort: 81}]}", "MM0106 ports[0].targetPort"},
		{"MeshExternalService: addresses are IP addresses or host names", &external{}, "{" + match + ", endpoints: [{address: 10.0.0.1, port: 1}, {address: '::1', port: 1}, {address: a.example, port: 1}, {address: 'http://a', port: 1}]}",
			"MM0111 endpoints[3].address"},
		{"MeshExternalService: a priority is one of Envoy", &external{}, "{" + match + ", endpoints: [{address: a, port: 1, priority: 128}, {address: b, port: 1, priority: 129}]}", "MM0110 endpoints[1].priority"},
		{"MeshExternalService: a client certificate needs a key", &external{}, "{" + match + ", tls: {verification: {clientCert: {secret: c}}}}", "MM0103 tls.verification.clientKey"},
		{"MeshExternalService: a key needs a client certificate", &external{}, "{" + match + ", tls: {verification: {clientKey: {secret: c}}}}", "MM0103 tls.verification.clientCert"},
		{"MeshExternalService: one form of a certificate", &external{}, "{" + match + ", tls: {verification: {caCert: {secret: c, inlineString: d}}}}", "MM0107 tls.verification.caCert.inlineString"},
		{"MeshExternalService: inline is base64", &external{}, "{" + match + ", tls: {verification: {caCert: {inline: '?'}}}}", "MM0111 tls.verification.caCert.inline"},
		{"MeshExternalService: the type of Kuma 3 has its part", &external{}, "{" + match + ", tls: {verification: {caCert: {type: Secret, insecureInline: {value: a}}}}}",
			"MM0103 tls.verification.caCert.secretRef; MM0106 tls.verification.caCert.insecureInline"},
		{"MeshExternalService: a part of Kuma 3 needs its type", &external{}, "{" + match + ", tls: {verification: {caCert: {secretRef: {kind: Secret, name: a}}}}}", "MM0103 tls.verification.caCert.type"},
		{"MeshExternalService: without a type, two forms are two errors", &external{}, "{" + match + ", tls: {verification: {caCert: {secret: c, insecureInline: {value: a}}}}}", "MM0103 tls.verification.caCert.type; MM0107 tls.verification.caCert.type"},
		{"MeshExternalService: an unknown type is one error", &external{}, "{" + match + ", tls: {verification: {caCert: {type: File, secretRef: {kind: Secret, name: a}}}}}", "MM0109 tls.verification.caCert.type"},
		{"MeshExternalService: a certificate has a form", &external{}, "{" + match + ", tls: {verification: {caCert: {}}}}", "MM0108 tls.verification.caCert"},
		{"MeshExternalService: min is at most max", &external{}, "{" + match + ", tls: {version: {min: TLS13, max: TLS12}}}", "MM0110 tls.version.min"},
		{"MeshExternalService: TLSAuto is no bound", &external{}, "{" + match + ", tls: {version: {min: TLS13, max: TLSAuto}}}", ""},
		{"MeshExternalService: an extension has a type", &external{}, "{" + match + ", extension: {type: ''}}", "MM0108 extension.type"},
		{"HostnameGenerator: one kind of destinations", &hostnames{}, "{selector: {meshService: {}, meshExternalService: {}}, template: '{{ .Name }}'}", "MM0107 selector.meshExternalService"},
		{"HostnameGenerator: a kind of destinations", &hostnames{}, "{selector: {}, template: '{{ .Name }}'}", "MM0108 selector"},
		{"HostnameGenerator: each variable", &hostnames{}, `{selector: {meshService: {}}, template: '{{ .Name }}.{{ .DisplayName }}.{{ .Namespace }}.{{ .Mesh }}.{{ .Zone }}.{{ label "a" }}'}`, ""},
		{"HostnameGenerator: nothing else of a template language", &hostnames{}, "{selector: {meshService: {}}, template: '{{ if .Name }}a{{ end }}'}", "MM0111 template"},
		{"HostnameGenerator: at most 4 KiB", &hostnames{}, "{selector: {meshService: {}}, template: " + strings.Repeat("a", 4097) + "}", "MM0111 template"},
		{"MeshOpenTelemetryBackend: an empty spec", &specs.MeshOpenTelemetryBackend{}, "{}", ""},
		{"MeshOpenTelemetryBackend: gRPC has no path", &specs.MeshOpenTelemetryBackend{}, "{endpoint: {path: /v1}}", "MM0106 endpoint.path"},
		{"MeshOpenTelemetryBackend: a path has no query", &specs.MeshOpenTelemetryBackend{}, "{endpoint: {path: '/v1?a'}, protocol: http}", "MM0116 endpoint.path"},
		{"ZoneIngress: the advertised address and port may be absent", &specs.ZoneIngress{}, "{networking: {port: 10001}}", ""},
		{"ZoneIngress: addresses and ports", &specs.ZoneIngress{}, "{networking: {port: 0, address: '/', advertisedAddress: '/', advertisedPort: 65536}}",
			"MM0110 networking.port; MM0111 networking.address; MM0111 networking.advertisedAddress; MM0110 networking.advertisedPort"},
		{"MeshZoneAddress: the address is required", &specs.MeshZoneAddress{}, "{port: 1}", "MM0103 address"},
		{"MeshGateway: a selector has a tag", &gateway{}, "{selectors: [{match: {}}], conf: {listeners: [{port: 80, protocol: HTTP}]}}", "MM0108 selectors[0].match"},
		{"MeshGateway: there is a selector and a listener", &gateway{}, "{selectors: [], conf: {listeners: []}}", "MM0108 selectors; MM0108 conf.listeners"},
		{"MeshGateway: HTTPS has tls, unless it is for other meshes", &gateway{}, "{" + selectors + ", conf: {listeners: [{port: 1, protocol: HTTPS}, {port: 2, protocol: HTTPS, crossMesh: true}]}}",
			"MM0103 conf.listeners[0].tls"},
		{"MeshGateway: HTTP has no tls", &gateway{}, "{" + selectors + ", conf: {listeners: [{port: 1, protocol: HTTP, tls: {mode: PASSTHROUGH}}]}}", "MM0106 conf.listeners[0].tls"},
		{"MeshGateway: TERMINATE has a certificate", &gateway{}, "{" + selectors + ", conf: {listeners: [{port: 1, protocol: TLS, tls: {mode: TERMINATE}}]}}", "MM0103 conf.listeners[0].tls.certificates"},
		{"2.2: tags of listeners may have a slash", &gateway{}, "{" + selectors + ", conf: {listeners: [{port: 1, protocol: HTTP, tags: {port: http/8080}}]}}", ""},
		{"2.2: tags of a MeshGateway may not", &gateway{}, "{" + selectors + ", tags: {port: http/8080}, conf: {listeners: [{port: 1, protocol: HTTP}]}}", "MM0114 tags.port"},
		{"MeshGatewayRoute: one protocol", &route{}, "{" + selectors + ", conf: {tcp: {rules: []}, http: {rules: []}}}", "MM0107 conf.http"},
		{"MeshGatewayRoute: a rule of HTTP has a match", &route{}, "{" + selectors + ", conf: {http: {rules: [{matches: []}]}}}", "MM0108 conf.http.rules[0].matches"},
		{"MeshGatewayRoute: a backend has tags", &route{}, "{" + selectors + ", conf: {tcp: {rules: [{backends: [{destination: {}}]}]}}}", "MM0108 conf.tcp.rules[0].backends[0].destination"},
		{"MeshGatewayRoute: a filter is one action", &route{}, "{" + selectors + ", conf: {http: {rules: [{matches: [{}], filters: [{rewrite: {}, redirect: {}}]}]}}}", "MM0107 conf.http.rules[0].filters[0].rewrite"},
		{"Mesh: unknown modes", &specs.Mesh{}, "{meshServices: {mode: Always}, mtls: {backends: [{name: a, type: builtin, mode: LAX}]}}", "MM0109 meshServices.mode; MM0109 mtls.backends[0].mode"},
		{"Secret: data is base64", &specs.Secret{}, "{data: '?'}", "MM0111 data"},
		{"13.3: a test asserts something", &test{}, "{}", "MM0108"},
		{"13.3: a case is about one client", &test{}, "{cases: [{from: {service: a}, to: {service: b}, expect: ALLOW}]}", "MM0111 cases[0].from"},
		{"13.3: a case is about one request", &test{}, "{cases: [{to: {service: b}, request: {pathPrefix: /a}, expect: ALLOW}]}", "MM0111 cases[0].request.pathPrefix"},
		{"13.3: always is about many", &test{}, "{always: [{from: {not: {service: a}}, to: {service: b}, request: {pathPrefix: /a}, expect: DENY}]}", ""},
		{"13.3: a client has one field", &test{}, "{always: [{from: {service: a, tags: {b: c}}, to: {}, expect: DENY}]}", "MM0107 always[0].from.tags; MM0108 always[0].to"},
		{"13.3: a field is a JSON pointer", &test{}, "{confs: [{dataplane: d, kind: MeshTimeout, field: idleTimeout, expect: {}}]}", "MM0111 confs[0].field; MM0103 confs[0].expect"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := findings(c.spec, c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The names that a proxy verifies, by the mode (SPEC 17.4).
func TestVerification(t *testing.T) {
	for mode, want := range map[specs.VerificationMode][4]bool{
		"":            {true, true, true, true},
		specs.Secured: {true, true, true, true},
		specs.SkipSAN: {true, false, false, true},
		specs.SkipCA:  {false, false, true, true},
		specs.SkipAll: {false, false, false, false},
	} {
		v := specs.Verification{Mode: mode, ServerName: "a.example", ClientCert: &specs.Certificate{}}
		if got := [4]bool{v.ChecksCA(), v.ChecksNames(), v.UsesServerName(), v.PresentsClientCert()}; got != want {
			t.Errorf("%q: checks the CA, checks names, uses the server name, presents the certificate: got %v, want %v", mode, got, want)
		}
	}
}

// The values of a spec that other packages ask for (SPEC 17.2, 17.3).
func TestValues(t *testing.T) {
	ports := decoded[specs.MeshService](t, "{ports: [{port: 80}, {port: 81, targetPort: 8081}, {port: 82, targetPort: http}]}").Ports
	listeners := decoded[specs.MeshGateway](t, `{selectors: [{match: {a: b}}], conf: {listeners: [{port: 80, protocol: HTTP}, {port: 80, protocol: HTTP, hostname: '*'}, {port: 80, protocol: HTTP, hostname: a.example}]}}`).Conf.Listeners
	mtls := decoded[specs.Mesh](t, "{mtls: {enabledBackend: b, backends: [{name: a, type: builtin}, {name: b, type: builtin}]}}").MTLS
	unknown := decoded[specs.Mesh](t, "{mtls: {enabledBackend: c, backends: [{name: a, type: builtin}]}}").MTLS
	secret := func(text string) string {
		name, _ := decoded[specs.Certificate](t, text).SecretName()
		return name
	}
	for _, c := range []struct {
		rule      string
		got, want any
	}{
		{"a port is its own target", ports[0].Target(), specs.TargetPort{Number: 80}},
		{"a number as target", ports[1].Target(), specs.TargetPort{Number: 8081}},
		{"a name as target", ports[2].Target(), specs.TargetPort{Name: "http"}},
		{"a listener for all hosts", listeners[0].Name() + " " + listeners[1].Name(), "80 80"},
		{"a listener for a host", listeners[2].Name(), "a.example:80"},
		{"the enabled backend", mtls.Enabled(), &mtls.Backends[1]},
		{"a backend that does not exist", unknown.Enabled(), (*specs.MTLSBackend)(nil)},
		{"no mtls", (*specs.MeshMTLS)(nil).Enabled(), (*specs.MTLSBackend)(nil)},
		{"the secret of Kuma 2", secret("{secret: a}"), "a"},
		{"the secret of Kuma 3", secret("{type: Secret, secretRef: {kind: Secret, name: b}}"), "b"},
		{"a certificate in the document", secret("{inlineString: c}"), ""},
		{"the content of a Secret", decoded[specs.Secret](t, "{data: YQ==}").Data.Text(), "a"},
		{"a scalar of each type", decoded[specs.ConfCondition](t, "{equals: 1.50, atLeast: true, atMost: 5s}"), &specs.ConfCondition{Equals: scalar("1.50"), AtLeast: scalar("true"), AtMost: scalar("5s")}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.rule, c.got, c.want)
		}
	}
}

func scalar(text specs.Scalar) *specs.Scalar { return &text }

// A generated schema is JSON with each field of its spec.
func TestSchemas(t *testing.T) {
	for _, spec := range []interface{ Schema() string }{
		&specs.AccessTest{}, &specs.HostnameGenerator{}, &specs.MeshExternalService{}, &specs.MeshGateway{}, &specs.MeshGatewayRoute{}, &specs.MeshMultiZoneService{},
		&specs.MeshService{}, &specs.MeshOpenTelemetryBackend{}, &specs.Zone{}, &specs.MeshZoneAddress{}, &specs.ZoneIngress{}, &specs.ZoneEgress{},
	} {
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal([]byte(spec.Schema()), &schema); err != nil {
			t.Errorf("%T: %v", spec, err)
		}
		fields := reflect.TypeOf(spec).Elem()
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
			if schema.Properties[name] == nil {
				t.Errorf("%T: the schema lacks %s", spec, name)
			}
		}
	}
}
