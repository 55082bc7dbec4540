package resource

import (
	"cmp"
	"net/netip"
)

// ListenerOf returns the index of the inbound that has the listener of inbound i. Inbounds with
// one address and port are one listener: it has the name, the protocol and the workload of the
// first of them that is not ignored, else of the first (SPEC 1.3). Inbounds without a port, which
// only Go programs make, have no listener in common.
func (d *Dataplane) ListenerOf(i int) int {
	if len(d.Inbounds) == 1 {
		return i
	}
	first := -1
	for j := range d.Inbounds {
		if j != i && !d.sharesListener(i, j) {
			continue
		}
		if !d.Inbounds[j].Ignored {
			return j
		}
		if first < 0 {
			first = j
		}
	}
	return first
}

// IsListener reports whether inbound i is the one of its listener.
func (d *Dataplane) IsListener(i int) bool { return d.ListenerOf(i) == i }

func (d *Dataplane) sharesListener(i, j int) bool {
	a, b := &d.Inbounds[i], &d.Inbounds[j]
	return a.Port == b.Port && a.Port != 0 && sameAddress(cmp.Or(a.Address, d.Address), cmp.Or(b.Address, d.Address))
}

// sameAddress reports whether two texts are one address.
func sameAddress(a, b string) bool {
	if a == b {
		return true
	}
	x, err := netip.ParseAddr(a)
	if err != nil {
		return false
	}
	y, err := netip.ParseAddr(b)
	return err == nil && x == y
}

// SharedListeners returns for each inbound the index of the inbound that has its listener, and
// nil if each has its own.
func (d *Dataplane) SharedListeners() []int {
	var listeners []int
	for i := 1; i < len(d.Inbounds); i++ {
		for j := range i {
			if listeners == nil && d.sharesListener(i, j) {
				listeners = make([]int, len(d.Inbounds))
			}
		}
	}
	for i := range listeners {
		listeners[i] = d.ListenerOf(i)
	}
	return listeners
}
