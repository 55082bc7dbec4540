package serving

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// A client whose certificate has two SPIFFE IDs is denied by HTTP and by TCP inbounds that
// allow all clients, also where the listeners come over ADS: there an Envoy ignores a field
// that it does not know, and what the field closes would be open (SPEC 7.2, 18.3).
func TestSeveralIDsOverADS(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{"mutual.yaml": mutual})
			m.write("identities.yaml", m.identities(`tls: "yes"`))
			ca := envoytest.NewAuthority(t)
			m.issue(ca, "secured")
			m.startApp("web", "127.0.0.1:10080")
			m.startApp("store", "127.0.0.1:10081")
			server := m.serve(firstReplica)
			m.startProxy("secured", protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)
			for _, port := range []string{"10000", "10001"} {
				address := m.network.Replace("127.0.0.1:" + port)
				for _, client := range []struct {
					name, want string
					ids        []string
				}{
					{"one ID", "200", []string{trustDomain + "client"}},
					{"two IDs", "refused", []string{trustDomain + "client", trustDomain + "secured"}},
					{"two IDs and a URI between them", "refused", []string{trustDomain + "client", "urn:a:b", trustDomain + "x"}},
				} {
					if got := securedStatus(t, ca, address, client.ids); got != client.want {
						t.Errorf("port %s, %s: %s, want %s", port, client.name, got, client.want)
					}
				}
			}
			if got := server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}

// securedStatus returns 200, or refused for a client that has an answer of the proxy or none.
func securedStatus(t *testing.T, ca *envoytest.Authority, address string, ids []string) string {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{ca.Issue(t, ids...)}} //nolint:gosec // the server is not what is tested
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return "refused"
	}
	c := &keptConnection{Conn: conn, reader: bufio.NewReader(conn)}
	defer c.close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if err := c.get(); err != nil {
		return "refused"
	}
	return fmt.Sprint(200)
}
