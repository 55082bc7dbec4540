package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Request is what a client asks of an inbound. What is empty is not there; a
// condition on it does not hold, but for Absent of a header.
type Request struct {
	SpiffeID string // of the client's certificate
	SNI      string
	Method   string
	Path     string // as in the request line, with or without a query
	Headers  Headers
	Tags     resource.Tags // of the client, for `from`
}

// path returns the path without the query.
func (r *Request) path() string {
	if i := strings.IndexByte(r.Path, '?'); i >= 0 {
		return r.Path[:i]
	}
	return r.Path
}

// Header is a header with its value.
type Header struct{ Name, Value string }

// Headers is the headers of a request, sorted by name, each name once and in
// lower case. [NewHeaders] makes it.
type Headers []Header

// NewHeaders takes headers in the order of the request. The values of a
// repeated name are joined by commas, as proxies do before they compare.
func NewHeaders(headers ...Header) Headers {
	if len(headers) == 0 {
		return nil
	}
	sorted := slices.Clone(headers)
	for i := range sorted {
		sorted[i].Name = strings.ToLower(sorted[i].Name)
	}
	slices.SortStableFunc(sorted, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	out := sorted[:1]
	for _, h := range sorted[1:] {
		if last := &out[len(out)-1]; last.Name == h.Name {
			last.Value += "," + h.Value
		} else {
			out = append(out, h)
		}
	}
	return out
}

// Get returns the value of a header, whose name is in lower case, and whether
// it is present.
func (h Headers) Get(name string) (string, bool) {
	for i := range h {
		if h[i].Name == name {
			return h[i].Value, true
		}
	}
	return "", false
}
