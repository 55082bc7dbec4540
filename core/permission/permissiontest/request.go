package permissiontest

import (
	"math/rand/v2"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Request returns a request of a client of the alphabet.
func Request(r *rand.Rand) *permission.Request {
	q := &permission.Request{SpiffeID: pick(r, SpiffeIDs), Method: pick(r, methods), Path: pick(r, requestPaths)}
	if r.IntN(2) == 0 {
		q.SNI = pick(r, serverNames)
	}
	var headers []permission.Header
	for _, name := range headerNames {
		if r.IntN(2) == 0 {
			headers = append(headers, permission.Header{Name: name, Value: pick(r, headerValues)})
		}
	}
	q.Headers = permission.NewHeaders(headers...)
	tags := map[string]string{resource.ServiceTag: pick(r, append([]string{"other"}, services...))}
	for _, key := range tagKeys {
		if r.IntN(3) > 0 {
			tags[key] = pick(r, append([]string{"v3"}, tagValues...))
		}
	}
	q.Tags = resource.NewTags(tags)
	return q
}
