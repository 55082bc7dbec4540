package semantics

import (
	"cmp"
	"fmt"
	"net"
	"strconv"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A MeshProxyPatch selects resources of a proxy by their names. Policies that were written
// for Kuma have the names that Kuma gives them, so these are further names (SPEC 17.4).
// SPEC 1 to 9 have no further names.

// InboundNames returns the names that Kuma gives to the listener and to the cluster of an
// inbound at an address.
func (s Semantics) InboundNames(address string, in *resource.Inbound) (listener, cluster []string) {
	if s == TargetRef {
		return nil, nil
	}
	unified := "self_inbound_dp_" + in.SectionName()
	if s == Kuma3 {
		return []string{unified}, []string{unified}
	}
	workload := cmp.Or(in.ServicePort, in.Port)
	return []string{"inbound:" + hostPort(address, in.Port), unified}, []string{fmt.Sprintf("localhost:%d", workload), unified}
}

// PassthroughNames returns the names that Kuma gives to the listeners and the clusters of
// passthrough. Direction is inbound or outbound. Kuma has one for IPv4 and one for IPv6.
func (s Semantics) PassthroughNames(direction string) []string {
	if s == TargetRef {
		return nil
	}
	unified := "self_transparentproxy_passthrough_" + direction
	names := []string{unified + "_ipv4", unified + "_ipv6"}
	if s == Kuma {
		names = append(names, direction+":passthrough:ipv4", direction+":passthrough:ipv6")
	}
	return names
}

// OutboundNames returns the names that Kuma gives to the listener of an outbound. Cluster
// contains the names of its cluster.
func (s Semantics) OutboundNames(address string, port uint32, cluster []string) []string {
	switch s {
	case TargetRef:
		return nil
	case Kuma3:
		return cluster
	}
	return append([]string{"outbound:" + hostPort(address, port)}, cluster...)
}

// DestinationNames returns the names that Kuma gives to the cluster, the endpoints and the
// routes of a port of a destination. Short is the short name of the destination's kind.
func (s Semantics) DestinationNames(d resource.Destination, port resource.DestinationPort, short string) []string {
	if s == TargetRef {
		return nil
	}
	m := d.Identity()
	names := []string{s.KRI(d.KRI(port.SectionName()), m)}
	if s == Kuma {
		names = append(names, fmt.Sprintf("%s_%s_%s_%s_%s_%d", m.Mesh, m.DisplayName(), m.HomeNamespace(), m.Zone(), short, port.Number))
	}
	return names
}

// ServiceNames returns the names that Kuma gives to the cluster, the endpoints and the
// routes of an outbound with tags: the service, if the outbound has no other tags.
func (s Semantics) ServiceNames(tags resource.Tags) []string {
	if s != Kuma {
		return nil
	}
	for _, tag := range tags {
		if tag.Key != resource.ServiceTag && tag.Key != resource.ProtocolTag {
			return nil
		}
	}
	if service := tags.Value(resource.ServiceTag); service != "" {
		return []string{service}
	}
	return nil
}

func hostPort(address string, port uint32) string {
	return net.JoinHostPort(address, strconv.FormatUint(uint64(port), 10))
}
