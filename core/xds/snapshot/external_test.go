package snapshot_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// outsideService is a random MeshExternalService, as the test that wrote it sees it.
type outsideService struct {
	addresses            []string
	priorities           []int
	tls                  bool
	mode, serverName, ca string // ca: "", inline, secret or broken
	sans                 []string
	client               bool
	least, most          string
}

func randomOutside(random *rand.Rand) outsideService {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	s := outsideService{
		tls: random.IntN(4) > 0, mode: pick("", "Secured", "SkipSAN", "SkipCA", "SkipAll"), serverName: pick("", "", "name.example"),
		ca: pick("", "inline", "inline", "secret", "broken"), client: random.IntN(3) == 0,
	}
	versions := []string{"TLS10", "TLS11", "TLS12", "TLS13"}
	at := random.IntN(4)
	s.least, s.most = pick("", "TLSAuto", versions[at]), pick("", "TLSAuto", versions[at+random.IntN(4-at)])
	for range random.IntN(4) {
		s.addresses = append(s.addresses, pick("a.example", "b.example", "192.0.2.1", "192.0.2.2"))
		s.priorities = append(s.priorities, random.IntN(3)*5)
	}
	for range random.IntN(3) {
		s.sans = append(s.sans, pick("x.example", "y.example"))
	}
	return s
}

func (s *outsideService) document(a *envoytest.Authority, t *testing.T) string {
	var endpoints, sans []string
	for i, address := range s.addresses {
		endpoints = append(endpoints, fmt.Sprintf("{address: %s, port: %d, priority: %d}", address, 443+i, s.priorities[i]))
	}
	for _, name := range s.sans {
		sans = append(sans, fmt.Sprintf("{value: %s}", name))
	}
	verification := fmt.Sprintf("subjectAltNames: [%s]", strings.Join(sans, ", "))
	add := func(present bool, format string, args ...any) {
		if present {
			verification += ", " + fmt.Sprintf(format, args...)
		}
	}
	add(s.mode != "", "mode: %s", s.mode)
	add(s.serverName != "", "serverName: %s", s.serverName)
	add(s.ca == "inline", "caCert: {inlineString: %q}", a.Bundle())
	add(s.ca == "secret", "caCert: {secret: ca}")
	add(s.ca == "broken", "caCert: {inlineString: none}")
	certificate := a.Issue(t, "spiffe://client")
	add(s.client, "clientCert: {inlineString: %q}, clientKey: {type: InsecureInline, insecureInline: {value: %q}}", envoytest.CertificatePEM(certificate.Certificate[0]), envoytest.KeyPEM(t, certificate))
	version := ""
	for key, value := range map[string]string{"min": s.least, "max": s.most} {
		if value != "" {
			version += fmt.Sprintf("%s: %s, ", key, value)
		}
	}
	return fmt.Sprintf("{type: MeshExternalService, name: out, spec: {match: {port: 9000, protocol: http}, endpoints: [%s], tls: {enabled: %v, version: {%s}, verification: {%s}}}, status: {vip: {ip: 242.0.0.1}}}",
		strings.Join(endpoints, ", "), s.tls, version, verification)
}

// isBroken reports whether a CA that is read is not there, or is none.
func (s *outsideService) isBroken() bool {
	return s.tls && s.mode != "SkipCA" && s.mode != "SkipAll" && (s.ca == "secret" || s.ca == "broken")
}

// endpoints returns the endpoints by rule 17.4, as lines of priority, address and port.
func (s *outsideService) endpoints(client xds.ClientType) (lines []string) {
	if s.tls && client == xds.ProxylessGRPC || s.isBroken() {
		return nil
	}
	for i, address := range s.addresses {
		lower := map[int]bool{}
		for _, priority := range s.priorities {
			if priority < s.priorities[i] {
				lower[priority] = true
			}
		}
		lines = append(lines, fmt.Sprintf("%d %s:%d", len(lower), address, 443+i))
	}
	slices.Sort(lines)
	return lines
}

// verifies is how a proxy connects by rule 17.4: by which name, which names and whose CA it
// accepts, whether it presents a certificate, and the versions; "" in plain text.
func (s *outsideService) verifies() string {
	if !s.tls {
		return ""
	}
	isName := func(text string) bool { _, err := netip.ParseAddr(text); return err != nil }
	name, asked := s.addresses[0], ""
	if isName(name) {
		asked = name
	}
	if s.serverName != "" && (s.mode == "" || s.mode == "Secured" || s.mode == "SkipCA") {
		asked, name = s.serverName, s.serverName
	}
	names, ca := "", ""
	switch s.mode {
	case "", "Secured":
		names = strings.Join(append([]string{name}, s.sans...), ",")
		fallthrough
	case "SkipSAN":
		if ca = "system"; s.ca != "" {
			ca = "its own"
		}
	}
	order := []string{"TLS10", "TLS11", "TLS12", "TLS13"}
	least, most := slices.Index(order, s.least), slices.Index(order, s.most)
	if most < 0 {
		most = 3
	}
	if least < 0 {
		least = min(2, most)
	}
	return fmt.Sprintf("sni %s, names %s, CA %s, client %v, %s to %s", asked, names, ca, s.client && s.mode != "SkipAll", order[least], order[most])
}

// verifiesOf returns the same of a cluster.
func verifiesOf(t *testing.T, c *clusterv3.Cluster) string {
	if c.TransportSocket == nil {
		return ""
	}
	m := new(tlsv3.UpstreamTlsContext)
	if err := c.TransportSocket.GetTypedConfig().UnmarshalTo(m); err != nil {
		t.Fatal(err)
	}
	validation := m.CommonTlsContext.GetValidationContext()
	var names []string
	for i, san := range validation.GetMatchTypedSubjectAltNames() {
		if of := []tlsv3.SubjectAltNameMatcher_SanType{tlsv3.SubjectAltNameMatcher_DNS, tlsv3.SubjectAltNameMatcher_IP_ADDRESS}[i%2]; san.SanType != of {
			t.Errorf("name %d is a %s, want %s", i, san.SanType, of)
		}
		if i%2 == 0 {
			names = append(names, san.Matcher.GetExact())
		}
	}
	ca := ""
	if validation.GetTrustedCa().GetFilename() != "" {
		ca = "system"
	} else if validation.GetTrustedCa().GetInlineString() != "" {
		ca = "its own"
	}
	least, most := m.CommonTlsContext.TlsParams.TlsMinimumProtocolVersion, m.CommonTlsContext.TlsParams.TlsMaximumProtocolVersion
	if least == tlsv3.TlsParameters_TLS_AUTO { // Envoy's
		least = tlsv3.TlsParameters_TLSv1_2
	}
	if least > most {
		t.Errorf("Envoy refuses the versions %s to %s", least, most)
	}
	return fmt.Sprintf("sni %s, names %s, CA %s, client %v, TLS1%d to TLS1%d", m.Sni, strings.Join(names, ","), ca,
		len(m.CommonTlsContext.TlsCertificateSdsSecretConfigs) == 1, least-1, most-1)
}

// externalKey is the secret with the key that proxies present to the service of these tests.
const externalKey = "external/kri_extsvc_default___out_/key"

// keysOf returns the names of the resources with a private key.
func keysOf(s *wire.Snapshot) (names []string) {
	for _, set := range s {
		for _, r := range slices.Concat(set.Listed, set.Named) {
			if strings.Contains(string(r.Body), "PRIVATE KEY") {
				names = append(names, r.Name)
			}
		}
	}
	return names
}

// A key is in a secret of a proxy whose cluster uses it, and nowhere else.
func checkKeys(t *testing.T, snapshot *snapshot.Snapshot, cluster string, used bool) {
	t.Helper()
	var want []string
	if used {
		want = []string{externalKey}
	}
	if got := keysOf(snapshot.Served(nil)); !slices.Equal(got, want) {
		t.Errorf("the resources with a key are %q, want %q", got, want)
	}
	if got := keysOf(snapshot.ServedWithoutKeys()); len(got) > 0 {
		t.Errorf("without keys there are %q", got)
	}
	uses := slices.ContainsFunc(snapshot.Resources(wire.ClusterType), func(r *wire.Resource) bool {
		return r.Name == cluster && strings.Contains(string(r.Body), externalKey)
	})
	if uses != used {
		t.Errorf("%s uses the key: %v, want %v", cluster, uses, used)
	}
}

// A secret that the server signs does not take the place of a key, and a patch that removes
// the cluster, or what it presents, takes the key away.
func TestExternalKeys(t *testing.T) {
	a := envoytest.NewAuthority(t)
	s := outsideService{addresses: []string{"a.example"}, priorities: []int{0}, tls: true, client: true}
	const cluster = "kri_extsvc_default___out_9000"
	f := follow(t, semantics.TargetRef)
	built := web(f.apply(transparent + "---\n" + s.document(a, t)))
	checkKeys(t, built, cluster, true)
	signed := wire.New(wire.SecretType, "identity", []byte("signed"))
	var names []string
	for _, r := range built.Served([]*wire.Resource{signed})[wire.SecretType].Listed {
		names = append(names, r.Name)
	}
	if want := []string{externalKey, "identity"}; !slices.Equal(names, want) {
		t.Errorf("the secrets are %q, want %q", names, want)
	}
	if first, second := built.ServedWithoutKeys(), built.ServedWithoutKeys(); first != second {
		t.Error("two calls return two snapshots")
	}
	for name, patch := range map[string]string{
		"the cluster is removed":         "operation: Remove, match: {name: " + cluster + "}",
		"another socket":                 "operation: Patch, match: {name: " + cluster + `}, value: "transport_socket: {name: envoy.transport_sockets.raw_buffer, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer}}"`,
		"something that is not a socket": "operation: Patch, match: {name: " + cluster + `}, value: "connect_timeout: 3s"`,
	} {
		t.Run(name, func(t *testing.T) {
			patched := web(f.apply("{type: MeshProxyPatch, name: patch, spec: {default: {appendModifications: [{cluster: {" + patch + "}}]}}}"))
			checkKeys(t, patched, cluster, name == "something that is not a socket")
		})
	}
}

// The text of a CA may have more than certificates, such as a key. Nothing else of it is in the cluster,
// which relays without secrets have.
func TestCAOfExternalServiceIsCertificates(t *testing.T) {
	a := envoytest.NewAuthority(t)
	const key = "-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----\n"
	for name, text := range map[string]string{
		"only certificates":  a.Bundle(),
		"a key before":       key + a.Bundle(),
		"a key after":        a.Bundle() + key,
		"a damaged key":      "-----BEGIN PRIVATE KEY-----\nU0VDUkVU!\n" + a.Bundle() + "U0VDUkVU",
		"without a line end": strings.TrimSpace(a.Bundle()) + "\n" + key + "password: U0VDUkVU",
	} {
		f := follow(t, semantics.TargetRef)
		built := web(f.apply(transparent + fmt.Sprintf(`
---
{type: Secret, mesh: default, name: ca, data: %q}
---
type: MeshExternalService
mesh: default
name: out
spec:
  match: {type: HostnameGenerator, port: 9000, protocol: tcp}
  endpoints: [{address: a.example, port: 443}]
  tls: {enabled: true, verification: {caCert: {secret: ca}}}
status: {vip: {ip: 242.0.0.1}}`, base64.StdEncoding.EncodeToString([]byte(text)))))
		found := false
		clusters := built.ServedWithoutKeys()[wire.ClusterType]
		for _, r := range slices.Concat(clusters.Listed, clusters.Named) {
			if r.Name != "kri_extsvc_default___out_9000" {
				continue
			}
			found = bytes.Contains(r.Body, []byte(strings.TrimSpace(a.Bundle())))
			if bytes.Contains(r.Body, []byte("U0VDUkVU")) {
				t.Errorf("%s: the cluster has the key", name)
			}
		}
		if !found {
			t.Errorf("%s: the cluster does not have the CA", name)
		}
	}
}

// The endpoints and the verification of random external services follow rule 17.4.
func TestExternalServices(t *testing.T) {
	a := envoytest.NewAuthority(t)
	random := rand.New(rand.NewPCG(17, 4))
	const cluster = "kri_extsvc_default___out_9000"
	for range 150 {
		s := randomOutside(random)
		document := s.document(a, t)
		f := follow(t, semantics.TargetRef)
		state := f.apply(transparent + "---\n" + document)
		for _, client := range []xds.ClientType{xds.Envoy, xds.ProxylessGRPC} {
			snapshot := state.Snapshot(state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: "web"}), client)
			c, assignment := new(clusterv3.Cluster), new(endpointv3.ClusterLoadAssignment)
			for kind, m := range map[wire.Type]proto.Message{wire.ClusterType: c, wire.EndpointType: assignment} {
				for _, r := range snapshot.Resources(kind) {
					if r.Name == cluster {
						if err := proto.Unmarshal(r.Body, m); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if c.LoadAssignment != nil {
				assignment = c.LoadAssignment
			}
			var got []string
			for _, l := range assignment.Endpoints {
				for _, e := range l.LbEndpoints {
					address := e.GetEndpoint().Address.GetSocketAddress()
					got = append(got, fmt.Sprintf("%d %s:%d", l.Priority, address.Address, address.GetPortValue()))
				}
			}
			slices.Sort(got)
			want := s.endpoints(client)
			if client == xds.ProxylessGRPC && len(want) > 0 { // it has addresses or one name, see TestGRPC
				continue
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v of %s\ngot  %q\nwant %q", client, document, got, want)
			}
			if len(want) > 0 {
				if got, want := verifiesOf(t, c), s.verifies(); got != want {
					t.Fatalf("%s\ngot  %s\nwant %s", document, got, want)
				}
			}
			checkKeys(t, snapshot, cluster, client == xds.Envoy && s.tls && !s.isBroken() && s.client && s.mode != "SkipAll")
		}
	}
}

// A mesh whose external services are reached through an egress alone, or not at all, has no
// endpoints of them. The next version of the mesh has.
func TestMeshClosesExternalServices(t *testing.T) {
	f := follow(t, semantics.TargetRef)
	f.apply(transparent + "---\n{type: MeshExternalService, name: out, spec: {match: {port: 9000}, endpoints: [{address: 192.0.2.1, port: 1}]}, status: {vip: {ip: 242.0.0.1}}}")
	for _, c := range []struct {
		routing string
		want    bool
	}{{"{}", true}, {"{zoneEgress: true}", false}, {"{zoneEgress: false}", true}, {"{defaultForbidMeshExternalServiceAccess: true}", false}, {"{localityAwareLoadBalancing: true}", true}} {
		s := web(f.apply("{type: Mesh, name: default, routing: " + c.routing + "}"))
		found := slices.ContainsFunc(s.Resources(wire.EndpointType), func(r *wire.Resource) bool { return strings.Contains(string(r.Body), "192.0.2.1") })
		if found != c.want {
			t.Errorf("routing %s: there are endpoints: %v, want %v", c.routing, found, c.want)
		}
	}
}
