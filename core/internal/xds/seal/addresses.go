package seal

import "net/netip"

// An embedding is a form of IPv6 addresses that have an address of IPv4 in them. What translates
// or tunnels them connects to the address of IPv4.
type embedding struct {
	prefix netip.Prefix
	bytes  [4]int // where the address of IPv4 is
	invert bool   // its bits are inverted
}

// embeddings are the forms that have prefixes of their own. A network may use 64:ff9b:1::/48 with
// a prefix of any length of RFC 6052.
var embeddings = []embedding{
	{prefix: netip.MustParsePrefix("::/96"), bytes: last},                           // IPv4-compatible, RFC 4291
	{prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), bytes: last},                 // IPv4-translated, RFC 2765
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), bytes: last},                    // NAT64, RFC 6052
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), bytes: [4]int{6, 7, 9, 10}},   // NAT64, RFC 8215
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), bytes: [4]int{7, 9, 10, 11}},  // with 56 bits
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), bytes: [4]int{9, 10, 11, 12}}, // with 64 bits
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), bytes: last},                  // with 96 bits
	{prefix: netip.MustParsePrefix("2002::/16"), bytes: [4]int{2, 3, 4, 5}},         // 6to4, RFC 3056
	{prefix: netip.MustParsePrefix("2001::/32"), bytes: last, invert: true},         // Teredo, RFC 4380
}

var last = [4]int{12, 13, 14, 15}

// Forms returns the addresses that a connection to an address may reach: itself without its zone,
// and each address of IPv4 that is embedded in it.
func Forms(ip netip.Addr) []netip.Addr {
	ip = ip.WithZone("").Unmap()
	list := []netip.Addr{ip}
	if ip.Is4() {
		return list
	}
	all := ip.As16()
	add := func(places [4]int, mask byte) {
		var short [4]byte
		for i, place := range places {
			short[i] = all[place] ^ mask
		}
		list = append(list, netip.AddrFrom4(short))
	}
	for _, e := range embeddings {
		if e.prefix.Contains(ip) {
			mask := byte(0)
			if e.invert {
				mask = 0xff
			}
			add(e.bytes, mask)
		}
	}
	if all[8]&^2 == 0 && all[9] == 0 && all[10] == 0x5e && all[11] == 0xfe { // ISATAP, RFC 5214: in any network
		add(last, 0)
	}
	return list
}
