package message_test

import (
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A message is what its text says, whatever is allocated with it, and Envoy's own rules accept
// it. A second one shares nothing with it: a translator that changes one leaves the other.
func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		make func() proto.Message
		want string
	}{
		"address": {
			func() proto.Message { return message.SocketAddress("10.0.0.1", 80) },
			`socket_address {address: "10.0.0.1" port_value: 80}`,
		},
		"route (SPEC 11.2)": {
			func() proto.Message { return message.RouteTo("web", 0, 1500*time.Millisecond) },
			`match {prefix: "/"} route {cluster: "web" timeout {} idle_timeout {seconds: 1 nanos: 500000000}}`,
		},
		"cluster": {
			func() proto.Message {
				c := message.NewCluster("web", 5*time.Second)
				message.UseEDS(c)
				return c
			},
			`name: "web" type: EDS connect_timeout {seconds: 5} eds_cluster_config {eds_config {ads {} resource_api_version: V3}}`,
		},
		"static cluster": {
			func() proto.Message {
				return message.NewStaticCluster("web", message.SocketAddress("::1", 1), time.Second)
			},
			`name: "web" type: STATIC connect_timeout {seconds: 1} load_assignment {cluster_name: "web" endpoints {lb_endpoints {
				endpoint {address {socket_address {address: "::1" port_value: 1}}}}}}`,
		},
		"static cluster without endpoints": {
			func() proto.Message { return message.NewStaticCluster("none", nil, time.Second) },
			`name: "none" type: STATIC connect_timeout {seconds: 1} load_assignment {cluster_name: "none"}`,
		},
		"options of HTTP": {
			func() proto.Message { return message.NewHTTPOptions(message.HTTP, time.Hour) },
			`common_http_protocol_options {idle_timeout {seconds: 3600}} explicit_http_config {http_protocol_options {}}`,
		},
		"options of gRPC": {
			func() proto.Message { return message.NewHTTPOptions(message.GRPC, time.Hour) },
			`common_http_protocol_options {idle_timeout {seconds: 3600}} explicit_http_config {http2_protocol_options {}}`,
		},
		"manager (SPEC 11.2)": {
			func() proto.Message { return message.NewManager("web", "routes", time.Hour, time.Minute) },
			`stat_prefix: "web" rds {config_source {ads {} resource_api_version: V3} route_config_name: "routes"}
				common_http_protocol_options {idle_timeout {seconds: 3600}} stream_idle_timeout {seconds: 60}
				normalize_path {value: true} merge_slashes: true upgrade_configs {upgrade_type: "websocket"}`,
		},
		"TCP proxy": {
			func() proto.Message { return message.NewTCPProxy("web", "web", time.Hour) },
			`stat_prefix: "web" cluster: "web" idle_timeout {seconds: 3600}`,
		},
		"discovered filter (SPEC 11.8)": {
			func() proto.Message { return message.Discovered("permission/in", "type.googleapis.com/a.B") },
			`name: "permission/in" config_discovery {config_source {ads {} initial_fetch_timeout {} resource_api_version: V3} type_urls: "type.googleapis.com/a.B"}`,
		},
		"expression (SPEC 7.2)": {
			func() proto.Message { return message.Regex("a+") },
			`google_re2 {max_program_size {value: 100000}} regex: "a+"`,
		},
		"TLS of a listener (SPEC 11.6)": {
			func() proto.Message { return message.ADSSecrets.DownstreamTLS() },
			`common_tls_context {
				tls_certificate_sds_secret_configs {name: "identity" sds_config {ads {} resource_api_version: V3}}
				combined_validation_context {default_validation_context {}
					validation_context_sds_secret_config {name: "trust" sds_config {ads {} resource_api_version: V3}}}}
			require_client_certificate {value: true}`,
		},
		"TLS of gRPC (SPEC 11.4)": {
			func() proto.Message { return message.GRPCSecrets.CommonTLS("spiffe://a/b") },
			`tls_certificate_provider_instance {instance_name: "default"}
				validation_context {ca_certificate_provider_instance {instance_name: "default"} match_subject_alt_names {exact: "spiffe://a/b"}}`,
		},
		"secret of SPIRE (SPEC 11.6)": {
			func() proto.Message { return message.SpireSecrets.Secret(message.TrustSecret) },
			`name: "ALL" sds_config {api_config_source {api_type: GRPC transport_api_version: V3
				grpc_services {envoy_grpc {cluster_name: "spire_agent"}}} resource_api_version: V3}`,
		},
		"trust in one domain": {
			func() proto.Message {
				return message.NewTrustSecret(map[string]*corev3.DataSource{"a": message.FileSource("/a")}, "a")
			},
			`name: "trust" validation_context {trusted_ca {filename: "/a"}}`,
		},
		"metadata of an endpoint": {
			func() proto.Message { return message.TransportSocketMetadata("spiffe://a/b") },
			`filter_metadata {key: "envoy.transport_socket_match" value {fields {key: "spiffeId" value {string_value: "spiffe://a/b"}}}}`,
		},
		"escaped slashes (SPEC 11.2)": {
			func() proto.Message { return message.RefuseEscapedSlashes() },
			`match {safe_regex {regex: ".*%(?:2[fF]|5[cC]).*"}} direct_response {status: 400}`,
		},
	} {
		got := c.make()
		want := got.ProtoReflect().New().Interface()
		if err := prototext.Unmarshal([]byte(c.want), want); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if v, ok := got.(interface{ ValidateAll() error }); ok && v.ValidateAll() != nil {
			t.Errorf("%s: %v", name, v.ValidateAll())
		}
		other := c.make()
		clearAll(got.ProtoReflect())
		if !proto.Equal(want, other) {
			t.Errorf("%s: two messages share a part", name)
		}
	}
}

// clearAll clears a message and all messages in it.
func clearAll(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			value.Map().Range(func(_ protoreflect.MapKey, value protoreflect.Value) bool {
				if field.MapValue().Message() != nil {
					clearAll(value.Message())
				}
				return true
			})
		case field.Message() != nil && field.IsList():
			for i := range value.List().Len() {
				clearAll(value.List().Get(i).Message())
			}
		case field.Message() != nil:
			clearAll(value.Message())
		}
		m.Clear(field)
		return true
	})
}

// Each trust domain has its own CAs, in the order of their names, if several are trusted
// (SPEC 11.6).
func TestTrustSecretOfDomains(t *testing.T) {
	m := message.NewTrustSecret(map[string]*corev3.DataSource{"b": message.FileSource("/b"), "a": message.FileSource("/a")}, "")
	text := prototext.Format(m)
	if a, b := strings.Index(text, `"/a"`), strings.Index(text, `"/b"`); a < 0 || b < a {
		t.Errorf("the secret is %s", text)
	}
	if m.GetValidationContext().GetTrustedCa() != nil {
		t.Error("a CA is trusted for every domain")
	}
}

// What a resource has can be decoded, and equal messages have equal bytes.
func TestResource(t *testing.T) {
	m := &listenerv3.Listener{Name: "in", Address: message.SocketAddress("10.0.0.1", 80)}
	r := message.NewResource(wire.ListenerType, "in", m)
	decoded, err := message.Decode(r)
	if err != nil || !proto.Equal(m, decoded) {
		t.Errorf("decoded: %v (%v)", decoded, err)
	}
	if again := message.NewResource(wire.ListenerType, "in", proto.CloneOf(m)); string(again.Append(nil)) != string(r.Append(nil)) {
		t.Error("equal messages have different bytes")
	}
	if any := message.Any(m); any.TypeUrl != wire.ListenerType.URL() {
		t.Errorf("the type is %q", any.TypeUrl)
	}
}

// Any protocol but those of HTTP is TCP (SPEC 11.3).
func TestProtocolOf(t *testing.T) {
	for name, want := range map[string]struct {
		protocol    message.Protocol
		http, http2 bool
		alpn        string
	}{
		"":      {message.TCP, false, false, "meshmatch"},
		"kafka": {message.TCP, false, false, "meshmatch"},
		"http":  {message.HTTP, true, false, "meshmatch http/1.1"},
		"http2": {message.HTTP2, true, true, "meshmatch h2"},
		"grpc":  {message.GRPC, true, true, "meshmatch h2"},
	} {
		p := message.ProtocolOf(name)
		if alpn := strings.Join(message.ALPN(p), " "); p != want.protocol || p.IsHTTP() != want.http || p.IsHTTP2() != want.http2 || alpn != want.alpn {
			t.Errorf("%q is %s: HTTP %v, HTTP/2 %v, %q", name, p, p.IsHTTP(), p.IsHTTP2(), alpn)
		}
	}
}

// The permissions of a listener have a name for each of its chains, and one canonical name.
func TestPermissionName(t *testing.T) {
	for name, want := range map[string]string{
		message.PermissionName("in", false): "permission/in",
		message.PermissionName("in", true):  "permission/in/plain",
	} {
		if name != want || message.CanonicalName(name) != message.HTTPPermissionFilter {
			t.Errorf("%s, want %s; its canonical name is %s", name, want, message.CanonicalName(name))
		}
	}
	if name := "envoy.filters.http.cors"; message.CanonicalName(name) != name {
		t.Error("a filter with its config in the listener has another name")
	}
	if key := message.ExternalKey("kri_extsvc_m___a_"); !message.IsExternalKey(key) || message.IsExternalKey(message.TrustSecret) {
		t.Errorf("%s is no key of an external service", key)
	}
}
