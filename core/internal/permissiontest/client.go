package permissiontest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Call is a request that a client sends, with the client's certificate.
type Call struct {
	URIs         []string // URI SANs of the certificate
	SNI          string
	Method, Path string
	Lines        []request.Header
	Tags         resource.Tags
}

// Request returns the compared parts of the request.
func (c *Call) Request() *request.Request {
	return &request.Request{
		SpiffeID: request.ClientID(c.URIs...), SNI: c.SNI, Method: c.Method, Path: c.Path,
		Headers: request.NewHeaders(c.Lines...), Tags: c.Tags,
	}
}

// Certificate returns the URI SANs of the client's certificate. If tags is set,
// its tag URIs carry exactly the client's tags.
func (c *Call) Certificate(tags bool) []string {
	if !tags {
		return c.URIs
	}
	out := slices.DeleteFunc(slices.Clone(c.URIs), func(uri string) bool { return strings.HasPrefix(uri, request.TagURI) })
	for _, tag := range c.Tags {
		out = append(out, request.TagURI+tag.Key+"/"+tag.Value)
	}
	return out
}

// HasComma reports whether a URI SAN of the client's certificate, with or without tags,
// has a comma. An inbound refuses such a client before the filter (SPEC 7.2).
func (c *Call) HasComma(tags bool) bool {
	return slices.ContainsFunc(c.Certificate(tags), func(uri string) bool { return strings.Contains(uri, ",") })
}

// IsASCII reports whether all texts have ASCII bytes alone that permissions may compare with
// expressions by bytes: the values of headers, or the URI SANs if they are about tags.
func (c *Call) IsASCII(p *permission.Permissions) bool {
	var texts []string
	if p.Clients != nil {
		texts = c.Certificate(true)
	} else {
		for _, line := range c.Lines {
			texts = append(texts, line.Value)
		}
	}
	return !slices.ContainsFunc(texts, func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f })
	})
}

// HasSeveralIDs reports whether several URI SANs of the client look like a SPIFFE ID. The
// rules form compares each of them (SPEC 7.6).
func (c *Call) HasSeveralIDs() bool {
	ids := slices.DeleteFunc(slices.Clone(c.URIs), func(uri string) bool { return !request.ClaimsID(uri) })
	return len(ids) > 1
}

// Naive returns the request for the reference.
func (c *Call) Naive() naive.Request {
	out := naive.Request{SpiffeID: naive.ClientID(c.URIs), SNI: c.SNI, Method: c.Method, Path: c.Path, Tags: map[string]string{}}
	for _, line := range c.Lines {
		out.Headers = append(out.Headers, naive.HeaderLine(line))
	}
	for _, tag := range c.Tags {
		out.Tags[tag.Key] = tag.Value
	}
	return out
}

// RandomClient returns a client of the alphabet. One in four has a certificate
// with no URI SAN or with several.
func RandomClient(r *rand.Rand) *Call {
	c := &Call{URIs: []string{pick(r, SpiffeIDs)}, Method: pick(r, methods), Path: pick(r, requestPaths)}
	if r.IntN(4) == 0 {
		c.URIs = pick(r, certificates)
	}
	if r.IntN(2) == 0 {
		c.SNI = pick(r, requestServerNames)
	}
	c.Lines = append(c.Lines, request.Header{Name: "host", Value: pick(r, authorities)})
	for _, name := range headerNames {
		for range r.IntN(3) {
			c.Lines = append(c.Lines, request.Header{Name: name, Value: pick(r, lineValues)})
		}
	}
	tags := map[string]string{resource.ServiceTag: pick(r, append([]string{"other"}, services...))}
	for _, key := range tagKeys {
		if r.IntN(3) > 0 {
			tags[key] = pick(r, slices.Concat(otherValues, tagValues))
		}
	}
	c.Tags = resource.NewTags(tags)
	return c
}

// ShadowFilter returns the expected decision of the shadow filter of an inbound,
// given an answer. The filter denies only requests that are denied because of
// allowWithShadowDeny (SPEC 7.4).
func ShadowFilter(p *permission.Permissions, a permission.Answer) permission.Decision {
	by := a.Shadow.By
	switch {
	case p.Clients != nil:
		return permission.Decision{Allow: a.Shadow.Allow || !a.Decision.Allow, By: by}
	case by != nil && by.List == permission.AllowWithShadowDeny && !a.Shadow.Allow:
		return a.Shadow
	}
	return permission.Decision{Allow: true}
}
