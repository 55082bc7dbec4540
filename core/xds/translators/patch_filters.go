package translators

import (
	"fmt"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/xds"
)

// filter is a network or HTTP filter.
type filter interface {
	proto.Message
	GetName() string
}

// withNetworkFilter returns a listener with a modification of the network filters of
// each filter chain.
func withNetworkFilter(l *listenerv3.Listener, mod *meshproxypatch.NetworkFilterMod) (proto.Message, bool, error) {
	l = proto.Clone(l).(*listenerv3.Listener)
	applied := false
	for _, chain := range l.FilterChains {
		filters, ok, err := modifyFilters(chain.Filters, mod.Operation, filterName(mod.Match), func(f *listenerv3.Filter) (*listenerv3.Filter, error) {
			if f == nil {
				f = &listenerv3.Filter{}
				return f, readResource(*mod.Value, f)
			}
			return patchMessage(f, mod.Value, mod.JSONPatches)
		})
		if err != nil {
			return nil, true, err
		}
		chain.Filters, applied = filters, applied || ok
	}
	return l, applied, nil
}

// withHTTPFilter returns a listener with a modification of the HTTP filters of each
// filter chain.
func withHTTPFilter(l *listenerv3.Listener, mod *meshproxypatch.HTTPFilterMod) (proto.Message, bool, error) {
	l = proto.Clone(l).(*listenerv3.Listener)
	applied := false
	for _, chain := range l.FilterChains {
		for _, f := range chain.Filters {
			manager := &hcmv3.HttpConnectionManager{}
			if !f.GetTypedConfig().MessageIs(manager) {
				continue
			}
			if err := f.GetTypedConfig().UnmarshalTo(manager); err != nil {
				return nil, true, err
			}
			filters, ok, err := modifyFilters(manager.HttpFilters, mod.Operation, filterName(mod.Match), func(f *hcmv3.HttpFilter) (*hcmv3.HttpFilter, error) {
				if f == nil {
					f = &hcmv3.HttpFilter{}
					return f, readResource(*mod.Value, f)
				}
				return patchMessage(f, mod.Value, mod.JSONPatches)
			})
			if err != nil {
				return nil, true, err
			}
			manager.HttpFilters, applied = filters, applied || ok
			f.ConfigType = &listenerv3.Filter_TypedConfig{TypedConfig: xds.Any(manager)}
		}
	}
	return l, applied, nil
}

func filterName(m *meshproxypatch.FilterMatch) *string {
	if m == nil {
		return nil
	}
	return m.Name
}

// modifyFilters returns the filters after a modification, and whether it applies. Make
// returns a new filter for nil, else the changed one. The last filter of a list ends
// it, so AddLast adds before it.
func modifyFilters[F filter](filters []F, operation meshproxypatch.FilterOperation, name *string, make func(F) (F, error)) ([]F, bool, error) {
	is := func(f F) bool { return absentOr(name, f.GetName()) }
	at := slices.IndexFunc(filters, is)
	var none F
	switch operation {
	case meshproxypatch.AddFilterFirst:
		at = 0
	case meshproxypatch.AddFilterLast:
		at = max(0, len(filters)-1)
	case meshproxypatch.AddFilterAfter:
		if at >= 0 {
			at++
		}
	}
	if at < 0 {
		return filters, false, nil
	}
	switch operation {
	case meshproxypatch.RemoveFilter:
		return slices.DeleteFunc(filters, is), true, nil
	case meshproxypatch.PatchFilter:
		for i, f := range filters {
			if !is(f) {
				continue
			}
			changed, err := make(f)
			if err != nil {
				return filters, true, err
			}
			filters[i] = changed
		}
		return filters, true, nil
	}
	added, err := make(none)
	if err != nil {
		return filters, true, err
	}
	if at == len(filters) {
		return filters, true, fmt.Errorf("a filter after %s would never be reached", filters[at-1].GetName())
	}
	return slices.Insert(filters, at, added), true, nil
}

// withVirtualHost returns routes with a modification of their virtual hosts.
func withVirtualHost(r *routev3.RouteConfiguration, mod *meshproxypatch.VirtualHostMod) (proto.Message, bool, error) {
	r = proto.Clone(r).(*routev3.RouteConfiguration)
	is := func(h *routev3.VirtualHost) bool { return mod.Match == nil || absentOr(mod.Match.Name, h.Name) }
	switch mod.Operation {
	case meshproxypatch.AddResource:
		host := &routev3.VirtualHost{}
		if err := readResource(*mod.Value, host); err != nil {
			return nil, true, err
		}
		r.VirtualHosts = append(r.VirtualHosts, host)
		return r, true, nil
	case meshproxypatch.RemoveResource:
		before := len(r.VirtualHosts)
		r.VirtualHosts = slices.DeleteFunc(r.VirtualHosts, is)
		return r, len(r.VirtualHosts) < before, nil
	}
	applied := false
	for i, h := range r.VirtualHosts {
		if !is(h) {
			continue
		}
		changed, err := patchMessage(h, mod.Value, mod.JSONPatches)
		if err != nil {
			return nil, true, err
		}
		r.VirtualHosts[i], applied = changed, true
	}
	return r, applied, nil
}
