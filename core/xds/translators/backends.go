package translators

import (
	"fmt"
	"maps"
	"math"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// backendDraft is a draft that sends requests or connections to backends.
type backendDraft interface {
	warner
	Advise(code diag.Code, e *rules.Effective, field, message string)
	Backend(resource.Tags) string
}

// backend is a cluster with its share of the requests, which is not 0.
type backend struct {
	cluster string
	weight  uint32
}

// backendsOf returns the backends of a rule that get requests: none if all weights
// are 0. Field is the JSON pointer of the list.
func backendsOf(draft backendDraft, e *rules.Effective, field string, refs []conf.BackendRef) (list []backend) {
	sum := uint64(0)
	for i := range refs {
		sum += uint64(refs[i].Share())
	}
	for i := range refs {
		switch {
		case refs[i].RefersToDestination():
			draft.Advise(diag.NoEndpoints, e, fmt.Sprintf("%s/%d", field, i), noDestination)
		case refs[i].Port != nil:
			draft.Warn(diag.NoEffectHere, e, fmt.Sprintf("%s/%d/port", field, i), noBackendPort)
		}
		if weight := refs[i].Share(); weight > 0 {
			list = append(list, backend{draft.Backend(backendTags(&refs[i])), scaled(weight, sum)})
		}
	}
	return list
}

const noBackendPort = "the port of a backend has no effect: endpoints are selected by tags"

const noDestination = "a backend that refers to a destination has no endpoints here: its share is answered with 503"

// backendTags returns the tags by which a backend selects endpoints (SPEC 11.3). Those
// of a reference to a destination select none.
func backendTags(ref *conf.BackendRef) resource.Tags {
	if ref.RefersToDestination() {
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
