package traffic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// inboundAt is an inbound of a dataplane.
type inboundAt struct {
	dataplane *resource.Dataplane
	index     int
}

// targets returns the inbounds of a case, at least one.
func (t *tester) targets(to *specs.AccessTarget) ([]inboundAt, error) {
	var out []inboundAt
	what := ""
	var dataplanes []*resource.Dataplane
	served := func(*resource.Dataplane, int) bool { return true }
	name := ""
	if to.Service != nil {
		name = strings.TrimPrefix(*to.Service, find.ServicePrefix)
	} else if service, is := strings.CutPrefix(*to.Dataplane, find.ServicePrefix); is {
		name = service
	}
	if name == "" {
		found, err := t.dataplanesNamed(*to.Dataplane)
		if err != nil {
			return nil, err
		}
		dataplanes, what = found, fmt.Sprintf("dataplane %q", *to.Dataplane)
	} else {
		what = fmt.Sprintf("service %q", name)
		if service, err := find.NewService(t.view, t.mesh, name, nil); err == nil {
			dataplanes = service.Dataplanes
			served = func(d *resource.Dataplane, i int) bool { return slices.Contains(service.Inbounds(d), i) }
		}
	}
	var byNumber []inboundAt // if no inbound has the name
	for _, d := range dataplanes {
		for i := range d.Inbounds {
			switch {
			case !d.IsListener(i) || !served(d, i):
			case to.Inbound == nil || find.IsInboundNamed(d, i, *to.Inbound):
				out = append(out, inboundAt{d, i})
			case *to.Inbound == words.Port(d.Inbounds[i].Port):
				byNumber = append(byNumber, inboundAt{d, i})
			}
		}
	}
	if len(out) == 0 {
		out = byNumber
	}
	switch {
	case len(out) > 0:
		return out, nil
	case to.Inbound != nil:
		return nil, fmt.Errorf("%s has no inbound %q", what, *to.Inbound)
	}
	return nil, fmt.Errorf("%s has no inbounds", what)
}

// request returns the request of a case.
func (t *tester) request(c *specs.AccessCase) (*request.Request, error) {
	r := &request.Request{}
	if from := c.From; from != nil {
		switch {
		case from.SpiffeID != nil:
			r.SpiffeID = *from.SpiffeID
		case from.Dataplane != nil:
			client, ids, err := find.Client(t.view, t.mesh, find.Name{Name: *from.Dataplane})
			if err != nil {
				return nil, err
			}
			if ids != nil {
				return nil, find.Usagef("the dataplane %q has several SPIFFE IDs (%s); give one as spiffeId", *from.Dataplane, strings.Join(ids, ", "))
			}
			r.SpiffeID, r.Tags = client.SpiffeID, client.Tags
		default:
			r.Tags = resource.NewTags(from.Tags)
		}
	}
	if q := c.Request; q != nil {
		r.SNI, r.Method, r.Path = text(q.SNI), text(q.Method), text(q.Path)
		r.Headers = headersOf(q.Headers)
	}
	return r, nil
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func headersOf(values map[string]string) request.Headers {
	var headers []request.Header
	for name, value := range values {
		headers = append(headers, request.Header{Name: name, Value: value})
	}
	return request.NewHeaders(headers...)
}

// clients returns the requests of some clients; nil means every client. With byTags it
// identifies clients by their tags, as `from` items do; otherwise by SPIFFE IDs, as
// entries of rules do.
func (t *tester) clients(c *specs.AccessClient, byTags bool) (*access.Requests, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.SpiffeID != nil:
		return withID(conf.SpiffeIDExact, *c.SpiffeID), nil
	case c.SpiffeIDPrefix != nil:
		return withID(conf.SpiffeIDPrefix, *c.SpiffeIDPrefix), nil
	case c.Tags != nil:
		return access.Matching(nil, resource.NewTags(c.Tags)), nil
	case c.Not != nil:
		set, err := t.clients(c.Not, byTags)
		return access.Not(set), err
	case c.Dataplane != nil:
		of, err := t.dataplanesNamed(*c.Dataplane)
		if err != nil {
			return nil, err
		}
		return t.dataplanes(of, *c.Dataplane, byTags)
	case c.Service != nil:
		var of []*resource.Dataplane
		if service, err := find.NewService(t.view, t.mesh, strings.TrimPrefix(*c.Service, find.ServicePrefix), nil); err == nil {
			of = service.Dataplanes
		}
		return t.dataplanes(of, *c.Service, byTags)
	}
	var sets []*access.Requests
	for i := range c.AnyOf {
		set, err := t.clients(&c.AnyOf[i], byTags)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return access.Or(sets...), nil
}

func withID(how conf.SpiffeIDMatchType, id string) *access.Requests {
	return access.Matching(&conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: how, Value: id}}, nil)
}

// dataplanes returns dataplanes as clients: by the tags of each of their inbounds, or by
// identity.
func (t *tester) dataplanes(list []*resource.Dataplane, name string, byTags bool) (*access.Requests, error) {
	var sets []*access.Requests
	for _, d := range list {
		id, err := t.view.Identities(t.mesh).IdentityOf(d)
		switch {
		case err != nil:
			return nil, err
		case id != nil && !byTags:
			sets = append(sets, withID(conf.SpiffeIDExact, id.SPIFFEID))
			continue
		}
		for _, tags := range find.ClientTags(d) {
			sets = append(sets, access.Matching(nil, tags))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no dataplane of %q is a client", name)
	}
	return access.Or(sets...), nil
}

// requestsOf returns the requests of an assertion; nil means every request.
func requestsOf(r *specs.TestRequest) *access.Requests {
	if r == nil {
		return nil
	}
	m := &conf.Match{}
	if r.SNI != nil {
		m.SNI = (*conf.SNI)(r.SNI)
	}
	if r.Method != nil {
		m.Method = (*conf.Method)(r.Method)
	}
	if r.Path != nil {
		path, _ := request.NormalizePath(*r.Path)
		m.Path = &conf.PathMatch{Type: conf.PathExact, Value: path}
	}
	if r.PathPrefix != nil {
		m.Path = &conf.PathMatch{Type: conf.PathPrefix, Value: *r.PathPrefix}
	}
	m.Headers = lists.Map(headersOf(r.Headers), func(h request.Header) conf.HeaderMatch {
		return conf.HeaderMatch{Name: conf.HeaderName(h.Name), Value: &h.Value}
	})
	return access.Matching(m, nil)
}
