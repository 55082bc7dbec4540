package snapshot

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The names of the resources that connect to the original destination of a connection (SPEC
// 11.4).
const (
	inboundPassthrough  = "passthrough/inbound"
	outboundPassthrough = "passthrough/outbound"
	namesPassthrough    = "passthrough/domains"
)

// warnReached reports the changes of finished resources that lead to the workload without
// passing its inbounds (SPEC 11.5).
func (sb *snapshotBuilder) warnReached() {
	var changes []seal.ReferenceSet
	var causes []xds.PartChange
	for _, part := range slices.Concat(sb.snapshot.own, sb.shared.parts) {
		for _, c := range part.changes {
			changes, causes = append(changes, c.ReferenceSet), append(causes, c)
		}
	}
	if len(changes) == 0 {
		return
	}
	reached := workloadOf(sb.dataplane).Reached(changes)
	for i := range changes {
		if reason := reached[i]; reason != "" {
			r := xds.Report{Place: cmp.Or(changes[i].Name, sb.Place)}
			r.Weaken(causes[i].Conf, causes[i].Field, reason)
			sb.Warnings = append(sb.Warnings, r.Warnings...)
		}
	}
}

// workloadOf returns how the workload of a dataplane is reached.
func workloadOf(d *resource.Dataplane) *seal.Workload {
	w := &seal.Workload{
		Names:   []string{inboundPassthrough},
		Dynamic: []string{outboundPassthrough, namesPassthrough},
		Ports:   map[uint32][]string{}, Inbounds: map[string]bool{},
	}
	address := func(text string) {
		if ip, err := netip.ParseAddr(text); err == nil {
			w.Addresses = append(w.Addresses, seal.Forms(ip)...)
		}
	}
	address(d.Address)
	address(d.AdvertisedAddress)
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		own := inboundAddress(d, in)
		address(own)
		address(in.ServiceAddress)
		w.Inbounds[net.JoinHostPort(own, fmt.Sprint(in.Port))] = true
		cluster := fmt.Sprintf("local/%s/%d", own, in.Port)
		w.Names = append(w.Names, cluster, inboundName(own, in.Port))
		port := cmp.Or(in.ServicePort, in.Port)
		w.Ports[port] = append(w.Ports[port], cluster)
	}
	return w
}

// isPatched reports whether a translator changes finished resources of a dataplane.
func (s *State) isPatched(d *resource.Dataplane) bool {
	return slices.ContainsFunc(s.builder.shape.finish, func(t *xds.Translator) bool {
		config, err := s.view.Config(d, t.Kind, s.builder.scope)
		return err == nil && config.Default != nil // the engine may lack the translator's kind
	})
}

// Weakened returns how patches weaken the permissions of a dataplane, and why patches that
// would do so are refused (SPEC 10, access).
func (s *State) Weakened(d *resource.Dataplane) (list []diag.Diagnostic) {
	if !s.isPatched(d) {
		return nil
	}
	for _, w := range s.Snapshot(d, xds.Envoy).warnings {
		if w.Weakens {
			list = append(list, w.Diagnostic())
		}
	}
	return list
}

// Refused returns the errors for which the dataplane must not be served this snapshot
// (SPEC 11.1, 11.5): a server goes on serving an earlier one. The result is nil if there
// are none.
func (s *Snapshot) Refused() (errors []xds.Warning) {
	for _, w := range s.warnings {
		if w.Unusable || w.Error && w.Weakens {
			errors = append(errors, w)
		}
	}
	return errors
}
