package server

import (
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxImmediate limits the answers for types that are not served which wait for a
// client to read.
const maxImmediate = 64

func typeFailure(name string) failure {
	return failure{name, codes.NotFound, "resources of this type are not served"}
}

// refuse sends a message for a type that is not served. Nothing is kept of it.
func (s *stream) refuse(m message) error {
	if len(s.immediate) >= maxImmediate {
		return status.Error(codes.ResourceExhausted, "too many requests for types that are not served")
	}
	s.responses++
	s.immediate = append(s.immediate, newResponse(newBody(m), newNonce(s.id, s.responses), nil))
	return nil
}

// checkLocators checks the limit on the dynamic parameters of each locator.
func (s *stream) checkLocators(locators []*discoveryv3.ResourceLocator) error {
	for _, l := range locators {
		if n, limit := len(l.GetDynamicParameters()), s.server.options.MaxParameters; n > limit {
			return status.Errorf(codes.ResourceExhausted, "a locator of %.100q has %d dynamic parameters, the limit is %d", l.GetName(), n, limit)
		}
	}
	return nil
}
