package serving

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/effect"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// mutual has a proxy with inbounds of each protocol, and another one with outbounds to them.
const mutual = `
{type: Dataplane, name: secured, labels: {tls: "yes"}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, tags: {kuma.io/service: web, kuma.io/protocol: http}},
    {port: 10001, serviceAddress: 127.0.0.1, servicePort: 10081, tags: {kuma.io/service: store, kuma.io/protocol: tcp}}]}}
---
{type: Dataplane, name: client, labels: {tls: "yes"}, networking: {address: 127.0.0.2,
  outbound: [{port: 10002, address: 127.0.0.2, tags: {kuma.io/service: web}}, {port: 10003, address: 127.0.0.2, tags: {kuma.io/service: store}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}
`

const (
	aes    = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	chacha = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"
	closed = "closed"
)

// tlsEdits are edits for the rows of MeshTLS. Before and after each of them, a client in plain
// text is answered or not, and one that has TLS 1.2 gets a cipher or is refused.
var tlsEdits = map[string][]struct{ before, after, plainBefore, plainAfter, cipherBefore, cipherAfter string }{
	"MeshTLS /mode": {
		{"{mode: Strict}", "{mode: Permissive}", closed, "200", aes, aes},
		{"{mode: Permissive}", "{mode: Strict}", "200", closed, aes, aes},
	},
	"MeshTLS /tlsCiphers": {
		{"{tlsCiphers: [ECDHE-ECDSA-AES128-GCM-SHA256]}", "{tlsCiphers: [ECDHE-ECDSA-CHACHA20-POLY1305]}", closed, closed, aes, chacha},
	},
	"MeshTLS /tlsVersion": {
		{"{tlsVersion: {min: TLS12}}", "{tlsVersion: {min: TLS13}}", closed, closed, aes, closed},
	},
}

// An edit of MeshTLS closes the connections of the inbounds, by mutual TLS or in plain text,
// with the streams that are open on them, and decides the next connections. It changes nothing
// in the proxy of a client: its HTTP connection stays, and its next request has another
// connection between the proxies. A TCP connection has one connection between the proxies, and
// is closed with it.
func testTLSRows(t *testing.T, seen verified) {
	m := newMesh(t, map[string]string{"mutual.yaml": mutual, "row.yaml": "# none\n"})
	m.write("identities.yaml", m.identities(`tls: "yes"`))
	ca := envoytest.NewAuthority(t)
	m.issue(ca, "secured", "client")
	startEcho(t, m.network.Replace("127.0.0.1:10080"))
	startEcho(t, m.network.Replace("127.0.0.1:10081"))
	d := startDrainTest(m, "secured", "client")

	config := &tls.Config{
		InsecureSkipVerify: true, // the server is not what is tested
		Certificates:       []tls.Certificate{ca.Issue(t, trustDomain+"client")}, NextProtos: []string{"meshmatch"},
	}
	inbounds := map[effect.Area]string{
		effect.HTTPInbound: m.network.Replace("127.0.0.1:10000"), effect.TCPInbound: m.network.Replace("127.0.0.1:10001"),
	}
	for _, row := range rowsOf(true) {
		name := rowName(row)
		for _, edit := range tlsEdits[name] {
			d.edit(row.Kind, rules(edit.before))
			open := map[effect.Area][]*keptConnection{}
			for part, address := range inbounds {
				eventually(t, "the edit decides", func() bool { return plainStatus(address) == edit.plainBefore })
				if got := cipherOf(address, config); got != edit.cipherBefore {
					t.Errorf("%s: a %s with %s has the cipher %s, want %s", name, part, edit.before, got, edit.cipherBefore)
				}
				open[part] = append(open[part], newKeptConnection(t, secureDialer(address, config), false))
				if edit.plainBefore != closed {
					open[part] = append(open[part], newKeptConnection(t, dialer(address, ""), false))
				}
			}
			stream := newKeptConnection(t, secureDialer(inbounds[effect.HTTPInbound], config), true)
			open[effect.HTTPInbound] = append(open[effect.HTTPInbound], stream)
			httpOutbound := newKeptConnection(t, dialer(m.network.Replace("127.0.0.2:10002"), ""), false)
			tcpOutbound := newKeptConnection(t, dialer(m.network.Replace("127.0.0.2:10003"), ""), false)
			counts := func() string {
				return d.stat("client", modifiedListeners) + " listeners and " + d.stat("client", modifiedClusters) + " clusters"
			}
			before := counts()

			d.edit(row.Kind, rules(edit.after))
			for part, connections := range open {
				if !row.Changes[part].Drain() {
					t.Fatalf("%s: the test expects that a %s drains, the table does not", name, part)
				}
				for _, c := range connections {
					if err := c.waitClosed(); err != nil {
						t.Errorf("%s: a connection of a %s stays, though its listener changes: %v", name, part, err)
					}
					c.close()
				}
				if got := plainStatus(inbounds[part]); got != edit.plainAfter {
					t.Errorf("%s: a %s with %s answers in plain text with %s, want %s", name, part, edit.after, got, edit.plainAfter)
				}
				if got := cipherOf(inbounds[part], config); got != edit.cipherAfter {
					t.Errorf("%s: a %s with %s has the cipher %s, want %s", name, part, edit.after, got, edit.cipherAfter)
				}
				seen.add(name, part)
			}
			if err := tcpOutbound.waitClosed(); err != nil {
				t.Errorf("%s: the connection of a TCP outbound outlives the one between the proxies: %v", name, err)
			}
			eventually(t, "the connections between the proxies are closed", func() bool {
				return d.stat("client", "cluster.default/web.upstream_cx_active") == "0"
			})
			if err := httpOutbound.next(); err != nil {
				t.Errorf("%s: the connection of an HTTP outbound is closed, though its listener does not change: %v", name, err)
			}
			if after := counts(); after != before {
				t.Errorf("%s changes the proxy of a client: %s, was %s", name, after, before)
			}
			tcpOutbound.close()
			httpOutbound.close()
		}
	}
}

func secureDialer(address string, config *tls.Config) func() (net.Conn, error) {
	return func() (net.Conn, error) { return tls.Dial("tcp", address, config) }
}

// plainStatus returns the status of an answer in plain text, closed if there is none.
func plainStatus(address string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return closed
	}
	c := &keptConnection{Conn: conn, reader: bufio.NewReader(conn)}
	defer c.close()
	if err := c.next(); err != nil {
		return closed
	}
	return fmt.Sprint(http.StatusOK)
}

// cipherOf returns the cipher of a client with TLS 1.2, closed if the client is refused.
func cipherOf(address string, config *tls.Config) string {
	old := config.Clone()
	old.MaxVersion = tls.VersionTLS12
	old.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256}
	conn, err := tls.Dial("tcp", address, old)
	if err != nil {
		return closed
	}
	defer conn.Close()
	return tls.CipherSuiteName(conn.ConnectionState().CipherSuite)
}
