package seal

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Workload is how the inbounds of a proxy reach its workload.
type Workload struct {
	// Names are the names of the resources that lead to the workload: clusters and
	// routes of inbounds.
	Names []string
	// Dynamic are the names of the clusters that connect to an address that the client
	// chooses.
	Dynamic []string
	// Addresses are the addresses of the dataplane in all their [Forms], in addition to the
	// loopback interface.
	Addresses []netip.Addr
	// Ports are the ports of the workload. Each has the names of the clusters that
	// connect to it.
	Ports map[uint32][]string
	// Inbounds are the addresses at which the inbounds listen, as host:port.
	Inbounds map[string]bool
}

// ReferenceSet is references of a resource. A changed resource has one for each modification that
// adds references, and one for those that it had before.
type ReferenceSet struct {
	Name string // of the resource
	*Reach
	Cluster bool
	// Changed reports whether a modification adds the references. For a cluster, it may have
	// changed anything of the cluster: the cluster is judged as a new one. For a listener, it
	// may have changed where clients reach it.
	Changed bool
	// Kept reports whether the resource had the references before it was changed.
	Kept bool
	// Exposed reports whether clients other than the workload may send requests to the
	// resource: a listener or its routes.
	Exposed bool
	// Guarded reports whether the permissions of an inbound have allowed what the resource gets.
	Guarded bool
	// Remote reports whether other machines may send requests to the resource, a listener.
	Remote bool
}

// lead is why a resource leads to the workload.
type lead struct {
	reason string
	cause  int // the change that makes it lead, -1 if it does so without changes
}

// Reached returns the changes that lead to the workload and bypass its inbound, or lend the
// identity of the proxy to other machines: their indexes, each with a reason.
func (w *Workload) Reached(changes []ReferenceSet) map[int]string {
	reached := map[int]string{}
	for _, lent := range []bool{false, true} {
		s := &search{Workload: w, lent: lent, leads: map[string]lead{}, listening: map[uint32]lead{}}
		s.run(changes, reached)
	}
	return reached
}

func (s *search) run(changes []ReferenceSet, reached map[int]string) {
	done := make([]*lead, len(changes))
	for more := true; more; {
		more = false
		for i := range changes {
			c := &changes[i]
			found, direct := s.lead(c, i)
			if found == nil || done[i] != nil && (done[i].cause >= 0 || found.cause < 0) {
				continue
			}
			done[i], more = found, true
			s.add(c, *found)
			if found.cause >= 0 && (direct || c.Exposed && (c.Remote || !s.lent)) {
				if !c.Changed {
					i = found.cause
				}
				reached[i] = cmp.Or(reached[i], found.reason)
			}
		}
	}
}

// search is what a search for ways to the workload has found, or one for ways by which the
// identity of the proxy is lent.
type search struct {
	*Workload
	lent      bool
	leads     map[string]lead // by the name of the resource
	listening map[uint32]lead // by the port of a listener
}

// add adds a resource that leads to the workload.
func (s *search) add(c *ReferenceSet, l lead) {
	if known, found := s.leads[c.Name]; !found || known.cause < 0 {
		s.leads[c.Name] = l
	}
	for _, port := range c.Listening {
		if known, found := s.listening[port]; !found || known.cause < 0 {
			s.listening[port] = l
		}
	}
}

// lead returns why a change leads to the workload, nil if it does not, and whether it does so
// by itself.
func (s *search) lead(c *ReferenceSet, index int) (l *lead, direct bool) {
	own := -1
	if c.Changed {
		own = index
	}
	if s.lent {
		switch {
		case c.Guarded && !c.Cluster: // it gets what the workload gets
			return nil, false
		case len(c.Certificates) > 0 && c.Kept:
			return &lead{c.Certificates[0], -1}, false
		case len(c.Certificates) > 0 && c.Cluster:
			return &lead{c.Certificates[0], own}, false
		}
		return s.indirect(c, own), false
	}
	if !c.Kept {
		for _, text := range c.Texts {
			for _, name := range s.Names {
				if strings.Contains(text, name) {
					return &lead{"it refers to " + name, own}, c.Changed
				}
			}
		}
	}
	if c.Cluster && !c.Kept && len(c.Sends) > 0 && slices.Contains(s.Names, c.Name) {
		return &lead{c.Sends[0], own}, true
	}
	if c.Cluster {
		for _, address := range c.Addresses {
			if s.has(c.Name, address) && !(c.Kept && !c.Changed && s.Inbounds[address]) {
				return &lead{"it connects to the workload at " + address, own}, c.Changed
			}
		}
	}
	if len(c.Unknown) > 0 {
		return &lead{c.Unknown[0], own}, c.Changed && c.Cluster && s.hasOther(c.Name)
	}
	return s.indirect(c, own), false
}

// indirect returns which other resource a change refers to that leads to the workload. One
// that does so because of a change is preferred.
func (s *search) indirect(c *ReferenceSet, own int) (best *lead) {
	found := func(l lead, reason string) {
		if best == nil || best.cause < 0 {
			if l.cause = max(own, l.cause); own >= 0 {
				l.cause = own
			}
			best = &lead{reason, l.cause}
		}
	}
	for _, text := range c.Texts {
		if !s.lent && slices.Contains(s.Dynamic, text) && !(c.Cluster && text == c.Name) {
			found(lead{cause: -1}, "it refers to "+text+", which connects to an address that the client chooses")
		}
		if l, ok := s.leads[text]; ok {
			found(l, "it refers to "+text+": "+l.reason)
		}
	}
	if c.Cluster {
		for _, address := range c.Addresses {
			host, port := split(address)
			if l, ok := s.listening[port]; ok && s.isOwn(host) {
				found(l, "it connects to a listener at "+address+": "+l.reason)
			}
		}
	}
	return best
}

// hasOther reports whether a cluster is one of an inbound, and another inbound has another
// port of the workload.
func (w *Workload) hasOther(cluster string) bool {
	return slices.Contains(w.Names, cluster) && len(w.Ports) > 1
}

// has reports whether the proxy may reach the workload at an address. The only cluster of
// a port may have any address for that port.
func (w *Workload) has(cluster, address string) bool {
	host, port := split(address)
	if port == anyPort {
		return len(w.Ports) > 0
	}
	owners := w.Ports[port]
	return (len(owners) > 1 || len(owners) == 1 && owners[0] != cluster) && w.isOwn(host)
}

// isOwn reports whether a host may be the machine of the workload. A name may: its resolver
// chooses the address. So may an address of IPv6 that is local to a link, because each interface
// has one, and a Dataplane names none.
func (w *Workload) isOwn(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err != nil || slices.ContainsFunc(Forms(ip), func(ip netip.Addr) bool {
		return ip.IsLoopback() || ip.IsUnspecified() || ip.Is6() && ip.IsLinkLocalUnicast() || slices.Contains(w.Addresses, ip)
	})
}

// anyPort is the value for a port that a resolver chooses.
const anyPort = 1 << 16

// split returns the host and the port of an address.
func split(address string) (host string, port uint32) {
	host, text, err := net.SplitHostPort(address)
	number, numberErr := strconv.ParseUint(text, 10, 16)
	if err != nil || numberErr != nil {
		return address, anyPort
	}
	return host, uint32(number)
}
