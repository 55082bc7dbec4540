package translators

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// backendDraft is a draft that sends requests or connections to backends.
type backendDraft interface {
	warner
	Advise(code diag.Code, e *results.Effective, field, message string)
	Backend(resource.Tags) string
	xds.Finder
}

// backend is a cluster with its share of the requests, which is not 0.
type backend struct {
	cluster  string
	weight   uint32
	external bool // the cluster is an external service
}

// backendsOf returns the backends of a rule that get requests: none if all weights
// are 0. Field is the JSON pointer of the list.
func backendsOf(draft backendDraft, e *results.Effective, field string, refs []conf.BackendRef) (list []backend) {
	sum := uint64(0)
	for i := range refs {
		sum += uint64(refs[i].Share())
	}
	for i := range refs {
		if weight := refs[i].Share(); weight > 0 {
			cluster, external := backendOf(draft, e, fmt.Sprintf("%s/%d", field, i), &refs[i])
			list = append(list, backend{cluster, scaled(weight, sum), external})
		}
	}
	return list
}

// backendOf returns the cluster of a backend. Field is its JSON pointer.
func backendOf(draft backendDraft, e *results.Effective, field string, ref *conf.BackendRef) (cluster string, external bool) {
	tagged := draft.FindsTags()
	if mayBeDestination(ref) || !tagged {
		if cluster, external, ok := draft.Find(sourceOf(e, field), destinationRef(ref)); ok {
			return cluster, external
		}
	}
	switch {
	case ref.RefersToDestination() || !tagged:
		draft.Advise(diag.NoEndpoints, e, field, noDestination)
	case ref.Port != nil:
		draft.Warn(diag.NoEffectHere, e, field+"/port", noBackendPort)
	}
	return draft.Backend(backendTags(ref, tagged)), false
}

// mayBeDestination reports whether a backend may be a destination that is a resource. A
// MeshService by its name alone is a service by its tag (SPEC 17.4).
func mayBeDestination(ref *conf.BackendRef) bool {
	return ref.RefersToDestination() || ref.Kind == conf.BackendMeshService && ref.Port != nil
}

// referTo reports whether one of the backends may be a destination that is a resource.
func referTo(refs []conf.BackendRef) bool {
	return slices.ContainsFunc(refs, func(r conf.BackendRef) bool { return mayBeDestination(&r) })
}

// destinationRef returns a backend as a reference to a resource.
func destinationRef(b *conf.BackendRef) *resource.BackendRef {
	ref := &resource.BackendRef{Kind: resource.TargetMeshService, Name: b.Name, Namespace: b.Namespace, Labels: resource.NewTags(b.Labels)}
	switch b.Kind {
	case conf.BackendMeshExternalService:
		ref.Kind = resource.TargetMeshExternalService
	case conf.BackendMeshMultiZoneService:
		ref.Kind = resource.TargetMeshMultiZoneService
	}
	if b.Port != nil {
		ref.Port = uint32(*b.Port)
	}
	return ref
}

// sourceOf returns the policy of an item that set a field or a part of it.
func sourceOf(e *results.Effective, field string) *resource.Policy {
	within := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }
	var policy *resource.Policy
	longest := -1
	for pointer, o := range e.Fields() {
		if (within(pointer, field) || within(field, pointer)) && len(pointer) > longest {
			policy, longest = o.Policy, len(pointer)
		}
	}
	return policy
}

const noBackendPort = "the port of a backend has no effect: endpoints are selected by tags"

const noDestination = "a backend finds no port of a destination: its share is answered with 503"

// backendTags returns the tags by which a backend selects endpoints (SPEC 11.3). Those
// of a reference to a destination select none; tagged reports whether there are other
// references.
func backendTags(ref *conf.BackendRef, tagged bool) resource.Tags {
	if ref.RefersToDestination() || !tagged {
		tags := maps.Clone(ref.Labels)
		if tags == nil {
			tags = map[string]string{}
		}
		tags[resource.ServiceTag] = string(ref.Kind) + "/" + ref.Namespace + "/" + ref.Name // no tag has a slash
		return resource.NewTags(tags)
	}
	tags := map[string]string{resource.ServiceTag: ref.Name}
	for key, value := range ref.Tags {
		if key != resource.ServiceTag {
			tags[key] = value
		}
	}
	return resource.NewTags(tags)
}

// scaled returns a weight such that weights with a sum have a sum that Envoy accepts:
// 32 bits at most.
func scaled(weight uint32, sum uint64) uint32 {
	if sum <= math.MaxUint32 {
		return weight
	}
	const most = math.MaxUint32 / 2 // leaves room for weights that are rounded up to 1
	return max(1, uint32(float64(weight)/float64(sum)*most))
}
