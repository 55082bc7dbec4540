package translators

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/xds"
)

// filter is a network or HTTP filter.
type filter interface {
	proto.Message
	GetName() string
}

// filterMod is a modification of network filters, or of HTTP filters, which has the same
// fields.
type filterMod meshproxypatch.NetworkFilterMod

// withNetworkFilter returns a listener with a modification of the network filters of
// each filter chain.
func withNetworkFilter(l *listenerv3.Listener, mod filterMod, left *allowance) (proto.Message, bool, error) {
	l = proto.CloneOf(l)
	applied := false
	for _, chain := range l.FilterChains {
		filters, ok, err := modifyFilters(chain.Filters, mod, left)
		if err != nil {
			return nil, true, err
		}
		chain.Filters, applied = filters, applied || ok
	}
	return l, applied, nil
}

// withHTTPFilter returns a listener with a modification of the HTTP filters of each
// filter chain.
func withHTTPFilter(l *listenerv3.Listener, mod filterMod, left *allowance) (proto.Message, bool, error) {
	l = proto.CloneOf(l)
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
			filters, ok, err := modifyFilters(manager.HttpFilters, mod, left)
			if err != nil {
				return nil, true, err
			}
			manager.HttpFilters, applied = filters, applied || ok
			f.ConfigType = &listenerv3.Filter_TypedConfig{TypedConfig: message.Any(manager)}
		}
	}
	return l, applied, nil
}

// modifyFilters returns the filters after a modification, and whether it applies. A terminal
// filter ends the list, so AddLast adds before it.
func modifyFilters[F filter](filters []F, mod filterMod, left *allowance) ([]F, bool, error) {
	is := func(f F) bool {
		return mod.Match == nil || absentOr(mod.Match.Name, f.GetName()) || absentOr(mod.Match.Name, message.CanonicalName(f.GetName()))
	}
	at := slices.IndexFunc(filters, is)
	switch mod.Operation {
	case meshproxypatch.AddFilterFirst:
		at = 0
	case meshproxypatch.AddFilterLast:
		at = len(filters)
		if at > 0 && isTerminal(filters[at-1]) {
			at--
		}
	case meshproxypatch.AddFilterAfter:
		if at >= 0 {
			at++
		}
	}
	if at < 0 {
		return filters, false, nil
	}
	switch mod.Operation {
	case meshproxypatch.RemoveFilter:
		return slices.DeleteFunc(filters, is), true, nil
	case meshproxypatch.PatchFilter:
		before := slices.Clone(filters)
		_, err := patchAll(filters, is, mod.Value, mod.JSONPatches, left)
		if i := slices.IndexFunc(before, func(f F) bool { return is(f) && isDiscovered(f) }); err != nil && i >= 0 {
			err = errDiscovered(before[i], err)
		}
		for i, f := range filters {
			// A filter whose config is a resource keeps its name if the patch has its canonical
			// name: the resource has that name too.
			if h, ok := any(f).(*hcmv3.HttpFilter); ok && h.Name == message.CanonicalName(before[i].GetName()) {
				h.Name = before[i].GetName()
			}
		}
		return filters, true, err
	}
	added, err := readResource[F](*mod.Value, left)
	if err != nil {
		return filters, true, err
	}
	if at > 0 && isTerminal(filters[at-1]) {
		return filters, true, fmt.Errorf("a filter after %s would never be reached", filters[at-1].GetName())
	}
	return slices.Insert(filters, at, added), true, nil
}

// errDiscovered is the error of a patch of a filter whose config is a resource.
func errDiscovered(f filter, err error) error {
	return fmt.Errorf("the content of %s cannot be patched, because the proxy gets it as a resource of its own: change the permissions instead (%w)", f.GetName(), err)
}

// contentInManager is a path to the content of an HTTP filter.
var contentInManager = regexp.MustCompile(`/httpFilters/(\d+)/typedConfig(/|$)`)

// causeInManager returns the error of patches of a listener or its filters. If one of them leads into an
// HTTP filter whose config is a resource, that is the cause.
func causeInManager(l *listenerv3.Listener, patches []meshproxypatch.JSONPatch, err error) error {
	if err == nil {
		return nil
	}
	for _, patch := range patches {
		found := contentInManager.FindStringSubmatch(string(patch.Path))
		if found == nil {
			continue
		}
		index, tooLong := strconv.Atoi(found[1])
		for _, chain := range l.FilterChains {
			for _, f := range chain.Filters {
				manager := &hcmv3.HttpConnectionManager{}
				if tooLong != nil || f.GetTypedConfig().UnmarshalTo(manager) != nil || index >= len(manager.HttpFilters) {
					continue
				}
				if filter := manager.HttpFilters[index]; isDiscovered(filter) {
					return errDiscovered(filter, err)
				}
			}
		}
	}
	return err
}

// withVirtualHost returns routes with a modification of their virtual hosts.
func withVirtualHost(p *xds.Part, r *routev3.RouteConfiguration, mod *meshproxypatch.VirtualHostMod, left *allowance) (proto.Message, bool, error) {
	r = proto.CloneOf(r)
	is := func(h *routev3.VirtualHost) bool { return mod.Match == nil || nameMatches(p, mod.Match.Name, h.Name) }
	applied, err := true, error(nil)
	switch mod.Operation {
	case meshproxypatch.AddResource:
		var host *routev3.VirtualHost
		if host, err = readResource[*routev3.VirtualHost](*mod.Value, left); err == nil {
			r.VirtualHosts = append(r.VirtualHosts, host)
		}
	case meshproxypatch.RemoveResource:
		before := len(r.VirtualHosts)
		r.VirtualHosts = slices.DeleteFunc(r.VirtualHosts, is)
		return r, len(r.VirtualHosts) < before, nil
	default:
		applied, err = patchAll(r.VirtualHosts, is, mod.Value, mod.JSONPatches, left)
	}
	if err == nil {
		err = uniqueDomains(r)
	}
	return r, applied, err
}

// discovered is a filter whose content may be a resource of its own, as permissions are: an
// edit of them must not replace the listener (SPEC 12.3).
type discovered interface {
	GetConfigDiscovery() *corev3.ExtensionConfigSource
}

// isDiscovered reports whether the content of a filter is a resource of its own.
func isDiscovered(f filter) bool {
	d, ok := f.(discovered)
	return ok && d.GetConfigDiscovery() != nil
}
