package stories

import (
	"net"
	"net/netip"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	caresv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/network/dns_resolver/cares/v3"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// namesAddress is where proxies ask for the addresses of names.
const namesAddress, namesPort = "127.0.0.101", 10053

// serveNames answers questions for the addresses of cart.example, which has the address of
// cart-1, and of outside.example. There are no other names.
func serveNames(t *testing.T, w *world) {
	connection, err := net.ListenPacket("udp", net.JoinHostPort(w.local(namesAddress), "10053"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	addresses := map[string][4]byte{
		"cart.example.":   netip.MustParseAddr(w.local("127.0.0.41")).As4(),
		outsideName + ".": netip.MustParseAddr(w.local(outsideAddress)).As4(),
	}
	go func() {
		data := make([]byte, 4096)
		for {
			n, from, err := connection.ReadFrom(data)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(data[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}
			m.Additionals = nil
			address, known := addresses[q.Name.String()]
			switch {
			case !known:
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
					Body:   &dnsmessage.AResource{A: address},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = connection.WriteTo(answer, from)
			}
		}
	}()
}

// withNames makes a proxy ask the server of names.
func withNames(b *bootstrapv3.Bootstrap, w *world) {
	b.TypedDnsResolverConfig = &corev3.TypedExtensionConfig{
		Name: "envoy.network.dns_resolver.cares",
		TypedConfig: message.Any(&caresv3.CaresDnsResolverConfig{
			Resolvers: []*corev3.Address{{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
				Protocol: corev3.SocketAddress_UDP, Address: w.local(namesAddress),
				PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: namesPort},
			}}}},
		}),
	}
}
