package patches

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameOf returns a name that the server of names resolves to an address.
func nameOf(address string) string { return strings.ReplaceAll(address, ".", "-") + ".example" }

// serveNames answers each question for a name of nameOf. It returns its port on the loopback
// interface.
func serveNames(t *testing.T) int {
	connection, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	go func() {
		data := make([]byte, 4096)
		for {
			n, from, err := connection.ReadFrom(data)
			if err != nil {
				return
			}
			if answer := answerName(data[:n]); answer != nil {
				_, _ = connection.WriteTo(answer, from)
			}
		}
	}()
	return connection.LocalAddr().(*net.UDPAddr).Port
}

func answerName(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}
	m.Additionals = nil
	label, _, _ := strings.Cut(q.Name.String(), ".")
	address, err := netip.ParseAddr(strings.ReplaceAll(label, "-", "."))
	switch {
	case err != nil:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: address.As4()},
		}}
	}
	answer, err := m.Pack()
	if err != nil {
		return nil
	}
	return answer
}
