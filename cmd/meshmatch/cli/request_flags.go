package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// requestFlags describe a request to an inbound and the client that makes it.
type requestFlags struct {
	request request.Request
	headers []string
	tags    []string
}

func (q *requestFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&q.request.SpiffeID, "spiffe-id", "", "the SPIFFE `ID` of the client's certificate")
	flags.StringVar(&q.request.SNI, "sni", "", "the server `NAME` (SNI) that the client sends")
	flags.StringVar(&q.request.Method, "method", "", "the HTTP `METHOD`")
	flags.StringVar(&q.request.Path, "path", "", "the `PATH`, with or without a query")
	flags.StringArrayVar(&q.headers, "header", nil, "a header, as `NAME=VALUE`; may be repeated")
	flags.StringArrayVar(&q.tags, "tag", nil, "a tag of the client, as `KEY=VALUE`, for from policies; may be repeated")
}

// given reports whether any of the flags is given.
func (q *requestFlags) given() bool {
	r := &q.request
	return r.SpiffeID != "" || r.SNI != "" || r.Method != "" || r.Path != "" || len(q.headers) > 0 || len(q.tags) > 0
}

// parse completes the request.
func (q *requestFlags) parse() error {
	if id := q.request.SpiffeID; id != "" && !strings.HasPrefix(id, "spiffe://") {
		return usagef("--spiffe-id must start with spiffe://, %q does not", id)
	}
	if path := q.request.Path; path != "" && path != "*" && path[0] != '/' {
		return usagef("--path must start with /, %q does not", path)
	}
	var headers []request.Header
	for _, h := range q.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return usagef("--header must be NAME=VALUE, %q is not", h)
		}
		headers = append(headers, request.Header{Name: name, Value: value})
	}
	q.request.Headers = request.NewHeaders(headers...)
	tags := map[string]string{}
	for _, t := range q.tags {
		key, value, ok := strings.Cut(t, "=")
		if !ok || key == "" {
			return usagef("--tag must be KEY=VALUE, %q is not", t)
		}
		if _, twice := tags[key]; twice {
			return usagef("--tag %s is given twice; a client has one value of a tag", key)
		}
		tags[key] = value
	}
	q.request.Tags = resource.NewTags(tags)
	return nil
}
