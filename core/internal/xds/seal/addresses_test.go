package seal_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
)

// written are texts of a socket's address that a network, a resolver or a translator may take to
// the address of IPv4 with the bytes a, b, c, d.
var written = map[string]func(a, b, c, d byte) string{
	"dotted":                   func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d.%d.%d", a, b, c, d) },
	"with a final dot":         func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d.%d.%d.", a, b, c, d) },
	"octal":                    func(a, b, c, d byte) string { return fmt.Sprintf("0%o.0%o.0%o.0%o", a, b, c, d) },
	"hexadecimal":              func(a, b, c, d byte) string { return fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", a, b, c, d) },
	"one number":               func(a, b, c, d byte) string { return fmt.Sprint(binary.BigEndian.Uint32([]byte{a, b, c, d})) },
	"two numbers":              func(a, b, c, d byte) string { return fmt.Sprintf("%d.%d", a, int(b)<<16|int(c)<<8|int(d)) },
	"leading zeros":            func(a, b, c, d byte) string { return fmt.Sprintf("%03d.%03d.%03d.%03d", a, b, c, d) },
	"mapped":                   func(a, b, c, d byte) string { return fmt.Sprintf("::ffff:%d.%d.%d.%d", a, b, c, d) },
	"mapped, in hexadecimal":   func(a, b, c, d byte) string { return fmt.Sprintf("0:0:0:0:0:FFFF:%02X%02X:%02x%02x", a, b, c, d) },
	"mapped, with a zone":      func(a, b, c, d byte) string { return fmt.Sprintf("::ffff:%d.%d.%d.%d%%lo", a, b, c, d) },
	"compatible":               func(a, b, c, d byte) string { return fmt.Sprintf("::%d.%d.%d.%d", a, b, c, d) },
	"translated":               func(a, b, c, d byte) string { return fmt.Sprintf("::ffff:0:%d.%d.%d.%d", a, b, c, d) },
	"NAT64":                    func(a, b, c, d byte) string { return fmt.Sprintf("64:ff9b::%d.%d.%d.%d", a, b, c, d) },
	"NAT64, with a zone":       func(a, b, c, d byte) string { return fmt.Sprintf("64:ff9b::%02x%02x:%02x%02x%%eth0", a, b, c, d) },
	"NAT64 of a network of 48": func(a, b, c, d byte) string { return fmt.Sprintf("64:ff9b:1:%02x%02x:00%02x:%02x00::", a, b, c, d) },
	"NAT64 of a network of 56": func(a, b, c, d byte) string { return fmt.Sprintf("64:ff9b:1:77%02x:00%02x:%02x%02x::", a, b, c, d) },
	"NAT64 of a network of 64": func(a, b, c, d byte) string {
		return fmt.Sprintf("64:ff9b:1:7777:00%02x:%02x%02x:%02x00::", a, b, c, d)
	},
	"NAT64 of a network of 96": func(a, b, c, d byte) string { return fmt.Sprintf("64:ff9b:1:7777:0:7777:%d.%d.%d.%d", a, b, c, d) },
	"6to4":                     func(a, b, c, d byte) string { return fmt.Sprintf("2002:%02x%02x:%02x%02x::1", a, b, c, d) },
	"6to4 of another machine":  func(a, b, c, d byte) string { return fmt.Sprintf("2002:%02x%02x:%02x%02x:7:8:9:a", a, b, c, d) },
	"Teredo": func(a, b, c, d byte) string {
		return fmt.Sprintf("2001::c000:201:8000:63bf:%02x%02x:%02x%02x", ^a, ^b, ^c, ^d)
	},
	"ISATAP":                  func(a, b, c, d byte) string { return fmt.Sprintf("2001:db8::5efe:%d.%d.%d.%d", a, b, c, d) },
	"ISATAP, of a global one": func(a, b, c, d byte) string { return fmt.Sprintf("2001:db8::200:5efe:%d.%d.%d.%d", a, b, c, d) },
	"ISATAP of a link":        func(a, b, c, d byte) string { return fmt.Sprintf("fe80::5efe:%d.%d.%d.%d%%2", a, b, c, d) },
}

// No form of an address of the workload hides it: neither of one that the Dataplane names nor of
// one of the loopback interface (SPEC 11.5).
func TestFormsOfAnAddress(t *testing.T) {
	random := rand.New(rand.NewPCG(48, 3))
	reached := func(of netip.Addr, host string) bool {
		w := &seal.Workload{Addresses: seal.Forms(of), Ports: map[uint32][]string{80: {"local/workload/80"}}}
		cluster := message.NewStaticCluster("mine", message.SocketAddress(host, 80), 0)
		return len(w.Reached([]seal.ReferenceSet{{Name: "mine", Reach: seal.Find(cluster), Cluster: true, Changed: true}})) > 0
	}
	other := netip.MustParseAddr("203.0.113.9")
	for name, write := range written {
		for range 20 {
			a, b, c, d := byte(1+random.IntN(223)), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())
			named := netip.AddrFrom4([4]byte{a, b, c, d})
			if host := write(a, b, c, d); !reached(named, host) {
				t.Errorf("%s: %s reaches %s", name, host, named)
			}
			if host := write(127, b, c, d); !reached(other, host) {
				t.Errorf("%s: %s reaches the loopback interface", name, host)
			}
			if ip, err := netip.ParseAddr(write(a, b, c, d)); err == nil && !reached(ip, named.String()) {
				t.Errorf("%s: %s reaches %s, which is an address of the Dataplane", name, named, ip)
			}
		}
		if host := write(0, 0, 0, 0); !reached(other, host) {
			t.Errorf("%s: %s reaches any address of the machine", name, host)
		}
	}
	for host, want := range map[string]bool{
		"::": true, "::1": true, "0:0:0:0:0:0:0:1": true, "::%lo": true, "[::1]": true, "localhost": true, "localhost.": true, "LOCALHOST.localdomain": true,
		"fe80::1": true, "fe80::1%eth0": true, "febf::1": true, "fe80::1%25eth0": true,
		"198.51.100.7": false, "::ffff:198.51.100.7": false, "64:ff9b::198.51.100.7": false, "64:ff9b:1:7777::198.51.100.7": false,
		"2002:c633:6407::1": false, "2001:db8::1": false, "2001:db8::5efe:198.51.100.7": false, "169.254.169.254": false, "fd00::1": false,
	} {
		if got := reached(other, host); got != want {
			t.Errorf("%s may be the workload: %t, want %t", host, got, want)
		}
	}
}
