package translators

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

const meshProxyPatchKind = "MeshProxyPatch"

// meshProxyPatch translates MeshProxyPatch: modifications of finished resources, in
// the order of the conf. Those that add a cluster or a listener do so once for a
// dataplane; the others are done on each part of its snapshot.
func meshProxyPatch() xds.Translator {
	return xds.Translator{
		Kind:   meshProxyPatchKind,
		Asks:   capability.APIs,
		Proxy:  with(addPatched),
		Finish: with(patchPart),
		Required: func(e *results.Effective) (fields []xds.RequiredField) {
			patch := results.MustConfOf[meshproxypatch.Conf](e)
			for i := range patch.AppendModifications {
				fields = append(fields, xds.RequiredField{IgnoredField: xds.IgnoredField{
					Field: modificationField(i), Reason: "it matches no resource of the dataplane",
				}})
			}
			return fields
		},
		IgnoredByGRPC: ignoredByGRPC("patches are for Envoy; gRPC would reject most of what they make", ""),
	}
}

// addedOrigin is the origin of resources that a modification added. Later
// modifications were done on them when they were added.
const addedOrigin xds.Origin = "added"

func modificationField(i int) string { return fmt.Sprintf("/appendModifications/%d", i) }

// addPatched adds clusters and listeners.
func addPatched(p *xds.Proxy, e *results.Effective, patch *meshproxypatch.Conf) {
	left := maxPatchWork // of all that are added
	for i := range patch.AppendModifications {
		var added proto.Message
		var err error
		most := min(left, maxPatched)
		switch m := &patch.AppendModifications[i]; {
		case m.Cluster != nil && m.Cluster.Operation == meshproxypatch.AddResource:
			added, err = readResource[*clusterv3.Cluster](*m.Cluster.Value, &allowance{most})
		case m.Listener != nil && m.Listener.Operation == meshproxypatch.AddResource:
			added, err = readResource[*listenerv3.Listener](*m.Listener.Value, &allowance{most})
		default:
			continue
		}
		if isTooMuch(err, most) {
			err = errTooMuchWork
		}
		if err == nil {
			err = unknownTo(p.Lacks, added)
		}
		if err != nil {
			p.Warn(patchCode(err), e, modificationField(i), "the resource is not added: %v", err)
			continue
		}
		part := p.Add(addedOrigin, added)
		part.Lacks = p.Lacks
		part.Apply(meshProxyPatchKind, modificationField(i))
		c := newPatchedPart(part, e, patch)
		c.history = append(c.history, modification{index: i, after: added, all: slices.Clone(c.Messages)})
		c.maxWork = min(c.maxWork, left)
		c.modify(i + 1)
		left -= c.work + proto.Size(added)
		if err := refusalOf(part.Messages); err != nil {
			p.Warn(diag.PatchNotApplied, e, modificationField(i), "the resource is not added: %v", err)
			part.Messages = nil
			continue
		}
		c.report()
	}
}

// patchPart does all modifications on a part.
func patchPart(p *xds.Part, e *results.Effective, patch *meshproxypatch.Conf) {
	if p.Origin == addedOrigin {
		return
	}
	c := newPatchedPart(p, e, patch)
	c.modify(0)
	c.report()
}

// mayModify reports whether a modification is for a message. One for filters or virtual hosts
// may find none in it.
func mayModify(p *xds.Part, m *meshproxypatch.Modification, message proto.Message) bool {
	switch message := message.(type) {
	case *clusterv3.Cluster:
		return m.Cluster != nil && m.Cluster.Operation != meshproxypatch.AddResource && clusterMatches(p, m.Cluster.Match, message)
	case *listenerv3.Listener:
		return m.Listener != nil && m.Listener.Operation != meshproxypatch.AddResource && listenerMatches(p, m.Listener.Match, message) ||
			m.NetworkFilter != nil && filterMatches(p, m.NetworkFilter.Match, message) ||
			m.HTTPFilter != nil && filterMatches(p, m.HTTPFilter.Match, message)
	case *routev3.RouteConfiguration:
		return m.VirtualHost != nil && hostMatches(p, m.VirtualHost.Match, message)
	}
	return false
}

// modified returns a message after a modification that is for it, nil if it is removed, and
// whether the modification matches. It does not change the message.
func modified(p *xds.Part, m *meshproxypatch.Modification, message proto.Message, left *allowance) (proto.Message, bool, error) {
	switch message := message.(type) {
	case *clusterv3.Cluster:
		return replaced(message, m.Cluster.Operation, m.Cluster.Value, m.Cluster.JSONPatches, left)
	case *listenerv3.Listener:
		switch {
		case m.Listener != nil:
			after, applied, err := replaced(message, m.Listener.Operation, m.Listener.Value, m.Listener.JSONPatches, left)
			return after, applied, causeInManager(message, m.Listener.JSONPatches, err)
		case m.NetworkFilter != nil:
			after, applied, err := withNetworkFilter(message, filterMod(*m.NetworkFilter), left)
			return after, applied, causeInManager(message, m.NetworkFilter.JSONPatches, err)
		default:
			return withHTTPFilter(message, filterMod(*m.HTTPFilter), left)
		}
	case *routev3.RouteConfiguration:
		return withVirtualHost(p, message, m.VirtualHost, left)
	}
	return message, false, nil
}

// replaced returns a message that was removed or patched.
func replaced[M proto.Message](m M, operation meshproxypatch.ResourceOperation, value *meshproxypatch.EnvoyResource, patches []meshproxypatch.JSONPatch, left *allowance) (proto.Message, bool, error) {
	if operation == meshproxypatch.RemoveResource {
		return nil, true, nil
	}
	patched, err := patchMessage(m, value, patches, left)
	return patched, true, err
}

func clusterMatches(p *xds.Part, m *meshproxypatch.ClusterMatch, c *clusterv3.Cluster) bool {
	return m == nil || matchesOrigin(p, m.Origin) && nameMatches(p, m.Name, c.Name)
}

func listenerMatches(p *xds.Part, m *meshproxypatch.ListenerMatch, l *listenerv3.Listener) bool {
	return m == nil || matchesOrigin(p, m.Origin) && nameMatches(p, m.Name, l.Name) && matchesTags(p, m.Tags)
}

func filterMatches(p *xds.Part, m *meshproxypatch.FilterMatch, l *listenerv3.Listener) bool {
	return m == nil || matchesOrigin(p, m.Origin) && nameMatches(p, m.ListenerName, l.Name) && matchesTags(p, m.ListenerTags)
}

func hostMatches(p *xds.Part, m *meshproxypatch.VirtualHostMatch, r *routev3.RouteConfiguration) bool {
	return m == nil || matchesOrigin(p, m.Origin) && nameMatches(p, m.RouteConfigurationName, r.Name)
}

func matchesOrigin(p *xds.Part, origin *string) bool { return absentOr(origin, string(p.Origin)) }

// nameMatches reports whether a condition on the name of a resource is absent or holds.
func nameMatches(p *xds.Part, condition *string, resource string) bool {
	return condition == nil || p.IsNamed(resource, *condition)
}

// absentOr reports whether a condition is absent or has the value.
func absentOr(condition *string, value string) bool { return condition == nil || *condition == value }

// matchesTags reports whether a part is of an inbound or outbound with the tags.
func matchesTags(p *xds.Part, tags map[string]string) bool {
	return len(tags) == 0 || p.Tags.Contains(resource.NewTags(tags))
}
