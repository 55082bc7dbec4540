package seal

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Workload is how the workload of a proxy is reached by its inbounds.
type Workload struct {
	// Names are the names of the resources that lead to the workload: the clusters and the
	// routes of inbounds.
	Names []string
	// Dynamic are the names of the clusters that connect to what a client chooses.
	Dynamic []string
	// Addresses are the addresses of the dataplane, in addition to the loopback
	// interface.
	Addresses []netip.Addr
	// Ports are the ports of the workload, with the names of the clusters that connect to
	// each.
	Ports map[uint32][]string
}

// Change is what a change makes a resource refer to.
type Change struct {
	Name string // of the resource
	*Reach
	// Cluster reports that it is a cluster, and Added that it was not there before.
	Cluster, Added bool
}

// Reached returns the changes that lead to the workload without passing its inbound, as
// indexes with a reason.
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
			return "it refers to " + text + ", which connects to what a client chooses", false
		}
		if reason := known[text]; reason != "" {
			return "it refers to " + text + ": " + reason, false
		}
	}
	return "", false
}

// has reports whether an address is the workload's, as seen from the proxy. A
// cluster of an inbound may have other addresses for its own port.
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
