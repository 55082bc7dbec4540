package replay

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Inbound is an inbound of a dataplane.
type Inbound struct {
	Dataplane *resource.Dataplane
	Index     int // in its inbounds
	Decider   *Decider
}

func (in *Inbound) compare(other *Inbound) int {
	return cmp.Or(in.Dataplane.ID.Compare(other.Dataplane.ID), cmp.Compare(in.Index, other.Index))
}

// Inbounds finds inbounds by the local address of a connection.
type Inbounds struct {
	at map[netip.AddrPort]*Inbound // nil: several
}

// NewInbounds returns the inbounds of dataplanes. An inbound is found by the address
// of its listener. If it listens at all addresses, it is found by the address of its
// dataplane. With transparent proxying, it is also found by the port of its workload,
// because proxies log the address to which the client connected.
func NewInbounds(list []Inbound) *Inbounds {
	a := &Inbounds{at: make(map[netip.AddrPort]*Inbound, len(list))}
	for i := range list {
		in := &list[i]
		own := &in.Dataplane.Inbounds[in.Index]
		address := ipOf(cmp.Or(own.Address, in.Dataplane.Address))
		if address.IsUnspecified() {
			address = ipOf(in.Dataplane.Address)
		}
		a.add(address, own.Port, in)
		if port := own.ServicePort; port != 0 && redirects(in.Dataplane) && firstOfWorkload(in.Dataplane, in.Index) {
			a.add(address, port, in)
			if other := ipOf(in.Dataplane.Address); other != address {
				a.add(other, port, in)
			}
		}
	}
	return a
}

func redirects(d *resource.Dataplane) bool {
	return d.TransparentProxy != nil && d.TransparentProxy.RedirectPortInbound != 0
}

// firstOfWorkload reports whether no inbound listens at the port of the workload of an
// inbound, and no earlier inbound has the same workload.
func firstOfWorkload(d *resource.Dataplane, index int) bool {
	port := d.Inbounds[index].ServicePort
	return !slices.ContainsFunc(d.Inbounds, func(i resource.Inbound) bool { return i.Port == port }) &&
		!slices.ContainsFunc(d.Inbounds[:index], func(i resource.Inbound) bool { return i.ServicePort == port })
}

// ipOf returns the address in a text, or the zero address if the text is a
// name.
func ipOf(text string) netip.Addr {
	address, _ := netip.ParseAddr(text)
	return address.Unmap()
}

func (a *Inbounds) add(address netip.Addr, port uint32, in *Inbound) {
	if !address.IsValid() || port > 1<<16-1 {
		return
	}
	key := netip.AddrPortFrom(address, uint16(port))
	if _, taken := a.at[key]; taken {
		in = nil
	}
	a.at[key] = in
}

// find returns the inbound at a local address, or the reason why there is none.
func (a *Inbounds) find(address string) (in *Inbound, why string) {
	key, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, noInbound
	}
	in, known := a.at[netip.AddrPortFrom(key.Addr().Unmap(), key.Port())]
	switch {
	case !known:
		return nil, noInbound
	case in == nil:
		return nil, severalInbounds
	}
	return in, ""
}

const (
	noInbound       = "no inbound has the local address"
	severalInbounds = "several inbounds have the local address"
)
