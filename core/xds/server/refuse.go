package server

import (
	"slices"
	"strings"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxRefused limits the requests for types that are not served which wait for a client
// to read.
const maxRefused = 64

// A refusal is a request for a type that is not served. All its names are missing. It is
// answered by as many responses as the names need. These are not in flight, and nothing is
// kept of them.
type refusal struct {
	url     string
	names   []string // sorted, without duplicates
	located []string // names of locators, likewise
}

func newRefusal(url string, names []string, locators []*discoveryv3.ResourceLocator) refusal {
	r := refusal{url: strings.Clone(url), names: union(nil, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == wildcard }))}
	located := make([]string, len(locators))
	for i, l := range locators {
		located[i] = l.GetName()
	}
	r.located = union(nil, located)
	return r
}

func (r *refusal) empty() bool { return len(r.names)+len(r.located) == 0 }

// bytes returns the size of the refusal in memory, about.
func (r *refusal) bytes() int { return len(r.url) + textBytes(r.names) + textBytes(r.located) }

// refuse makes next answer a request for a type that is not served.
func (s *stream) refuse(r refusal) error {
	rare := s.uncommon()
	if len(rare.refused) >= maxRefused {
		return status.Error(codes.ResourceExhausted, "too many requests for types that are not served")
	}
	rare.refused = append(rare.refused, r)
	s.bytes += r.bytes()
	return s.budget.Use(0, r.bytes())
}

// refusal returns the next response for a type that is not served.
func (s *stream) refusal() *response {
	c := composers.Get().(*composer)
	defer composers.Put(c)
	r := &s.rare.refused[0]
	before := r.bytes()
	c.reset(s.protocol, r.url)
	if s.protocol == stateOfTheWorld {
		c.message.version = versionOf(nil, nil)
	}
	for len(r.names) > 0 && c.miss(typeFailure(r.names[0]), ofName) {
		r.names = r.names[1:]
	}
	for len(r.located) > 0 && c.miss(typeFailure(r.located[0]), ofVariants) {
		r.located = r.located[1:]
	}
	charged := before
	if r.empty() {
		s.rare.refused = slices.Delete(s.rare.refused, 0, 1)
	} else {
		charged -= r.bytes()
	}
	s.bytes -= charged
	_ = s.budget.Use(0, -charged) // less is no error
	s.responses++
	return newResponse(newBody(c.message.clone()), newNonce(s.id, s.responses), nil)
}

func typeFailure(name string) failure {
	return failure{name, codes.NotFound, "resources of this type are not served"}
}

// checkLocators checks the limit on the dynamic parameters of each locator of a request
// that is too short to be weighed.
func (s *stream) checkLocators(locators []*discoveryv3.ResourceLocator) error {
	for _, l := range locators {
		if n, limit := len(l.GetDynamicParameters()), s.server.options.MaxParameters; n > limit {
			return status.Errorf(codes.ResourceExhausted, "a locator of %.100q has %d dynamic parameters, the limit is %d", l.GetName(), n, limit)
		}
	}
	return nil
}
