package inspect

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// RequestQuery describes a request to an inbound and its client, in the form of
// the command line. An empty field is not given.
type RequestQuery struct {
	SpiffeID, SNI, Method, Path string
	Headers                     []string // NAME=VALUE
	Tags                        []string // of the client, KEY=VALUE; for `from` policies
}

// Given reports whether any field is given.
func (q *RequestQuery) Given() bool {
	return q.SpiffeID != "" || q.SNI != "" || q.Method != "" || q.Path != "" || len(q.Headers) > 0 || len(q.Tags) > 0
}

// Warnings warns of parts of the request that have no effect.
func (q *RequestQuery) Warnings() []diag.Diagnostic {
	if q.SpiffeID == "" || request.ClientID(q.SpiffeID) != "" {
		return nil
	}
	return []diag.Diagnostic{{
		Code: diag.NotSPIFFEID,
		What: fmt.Sprintf("%q is not a SPIFFE ID: the answer is for a client without one", q.SpiffeID),
		Hint: "write spiffe://trust-domain/path",
	}}
}

// Parse returns the request. The error is [find.ErrUsage].
func (q *RequestQuery) Parse() (*request.Request, error) {
	r := &request.Request{SpiffeID: q.SpiffeID, SNI: q.SNI, Method: q.Method, Path: q.Path}
	if r.SpiffeID != "" && !request.ClaimsID(r.SpiffeID) {
		return nil, find.Usagef("%s must start with spiffe://, %q does not", find.FieldSpiffeID, r.SpiffeID)
	}
	r.SpiffeID = request.ClientID(r.SpiffeID)
	if path := r.Path; path != "" && path != "*" && path[0] != '/' {
		return nil, find.Usagef("%s must start with /, %q does not", find.FieldPath, path)
	}
	var headers []request.Header
	for _, h := range q.Headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return nil, find.Usagef("%s must be NAME=VALUE, %q is not", find.FieldHeader, h)
		}
		headers = append(headers, request.Header{Name: name, Value: value})
	}
	r.Headers = request.NewHeaders(headers...)
	tags := map[string]string{}
	for _, t := range q.Tags {
		key, value, ok := strings.Cut(t, "=")
		if !ok || key == "" {
			return nil, find.Usagef("%s must be KEY=VALUE, %q is not", find.FieldTag, t)
		}
		if _, twice := tags[key]; twice {
			return nil, find.Usagef("%s %s is given twice; a client has one value of a tag", find.FieldTag, key)
		}
		tags[key] = value
	}
	r.Tags = resource.NewTags(tags)
	return r, nil
}
