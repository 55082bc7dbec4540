package seal

import (
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
	// Addresses are the addresses of the dataplane, in addition to the loopback
	// interface.
	Addresses []netip.Addr
	// Ports are the ports of the workload. Each has the names of the clusters that
	// connect to it.
	Ports map[uint32][]string
}

// Change is a changed resource, with the references that the change adds.
type Change struct {
	Name string // of the resource
	*Reach
	// Cluster reports whether the resource is a cluster, and Added whether it is new.
	Cluster, Added bool
}

// Reached returns the changes that lead to the workload and bypass its inbound: their
// indexes, each with a reason.
func (w *Workload) Reached(changes []Change) map[int]string {
	reached := map[int]string{}
	done := make([]bool, len(changes))
	leads := map[string]string{} // names of changed resources, with a reason
	for more := true; more; {
		more = false
		for i := range changes {
			c := &changes[i]
			if done[i] {
				continue
			}
			reason, direct := w.leads(c, leads)
			if reason == "" {
				continue
			}
			done[i], more = true, true
			leads[c.Name] = reason
			if direct || c.Added && !c.Cluster {
				reached[i] = reason
			}
		}
	}
	return reached
}

// leads returns why a change leads to the workload, and whether it does so by itself.
func (w *Workload) leads(c *Change, known map[string]string) (reason string, direct bool) {
	for _, text := range c.Texts {
		for _, name := range w.Names {
			if strings.Contains(text, name) {
				return "it refers to " + name, true
			}
		}
	}
	if c.Cluster {
		for _, address := range c.Addresses {
			if w.has(c.Name, address) {
				return "it connects to the workload at " + address, true
			}
		}
	}
	if len(c.Unknown) > 0 {
		return c.Unknown[0], false
	}
	for _, text := range c.Texts {
		if slices.Contains(w.Dynamic, text) {
			return "it refers to " + text + ", which connects to an address that the client chooses", false
		}
		if reason := known[text]; reason != "" {
			return "it refers to " + text + ": " + reason, false
		}
	}
	return "", false
}

// has reports whether the proxy reaches the workload at an address. The only cluster of
// a port may have any address for that port.
func (w *Workload) has(cluster, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	number, _ := strconv.ParseUint(port, 10, 32)
	owners := w.Ports[uint32(number)]
	if len(owners) == 0 || len(owners) == 1 && owners[0] == cluster {
		return false
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsUnspecified() || slices.Contains(w.Addresses, ip)
}
