package access

import (
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Witness is a request of a region. Parts on which the region does not depend are
// absent. But a request to an HTTP inbound has the method GET and the path /.
type Witness = request.Request

// witness returns one of the current requests.
func (s *search) witness() (*Witness, error) {
	w := &Witness{}
	if s.space.Client != nil {
		w.SpiffeID, w.Tags = s.space.Client.SpiffeID, s.space.Client.Tags
	}
	if s.space.Protocol == request.HTTP {
		w.Method, w.Path = "GET", "/"
	}
	tags := map[string]string{}
	var headers []request.Header
	for v, at := range s.variables {
		text, ok, err := s.text(v)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		switch at.part {
		case spiffeID:
			w.SpiffeID = text
		case tag:
			tags[at.name] = text
		case sni:
			w.SNI = text
		case method:
			w.Method = text
		case path:
			w.Path = text
		case header:
			headers = append(headers, request.Header{Name: at.name, Value: text})
		}
	}
	if s.space.Client == nil {
		w.Tags = resource.NewTags(tags)
	}
	w.Headers = request.NewHeaders(headers...)
	return w, nil
}
