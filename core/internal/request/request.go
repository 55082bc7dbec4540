package request

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Request is a client's request to an inbound. An empty field is absent: no
// condition on it holds, except that a header is Absent.
type Request struct {
	SpiffeID string // of the client's certificate, valid; see [ClientID]
	SNI      string
	Method   string
	Path     string // in the client's form, with or without a query
	Headers  Headers
	Tags     resource.Tags // of the client, for `from`
}

// Protocol determines which parts of a request an inbound can see.
type Protocol uint8

// The protocols. A TCP inbound sees only the client's SPIFFE ID and the SNI.
const (
	TCP Protocol = iota
	HTTP
)

// ProtocolOf returns the protocol of the listener of an inbound, given by its index (SPEC 1.3).
func ProtocolOf(d *resource.Dataplane, inbound int) Protocol {
	if d.Inbounds[d.ListenerOf(inbound)].IsHTTP() {
		return HTTP
	}
	return TCP
}

// ClientID returns the SPIFFE ID of a client whose certificate has the given URI
// SANs. It is the only URI that begins with spiffe:// in any letter case, if it is
// valid by the SPIFFE specification. If no URI or several begin with spiffe://, or
// one of the URIs has a comma, the client has no ID (SPEC 7.2).
func ClientID(uris ...string) string {
	id := ""
	for _, uri := range uris {
		switch isID := ClaimsID(uri); {
		case strings.Contains(uri, ","), isID && id != "":
			return ""
		case isID:
			id = uri
		}
	}
	if !conf.IsSpiffeID(id) {
		return ""
	}
	return id
}

const spiffeScheme = "spiffe://"

// ClaimsID reports whether a URI has the scheme of SPIFFE IDs.
func ClaimsID(uri string) bool {
	return len(uri) >= len(spiffeScheme) && equalFold(uri[:len(spiffeScheme)], spiffeScheme)
}

// Header is a header line of a request.
type Header struct{ Name, Value string }

// Headers contains the headers of a request, sorted by name, each name once and
// in lower case. The authority has the name host. Use [NewHeaders] to make
// Headers.
type Headers []Header

// NewHeaders returns the headers of a request with the given lines. It omits the
// headers that the header Connection names, because the proxy removes them before any
// filter (SPEC 7.2). Like a proxy, it trims the values of a header's lines and joins
// them with commas; it joins the values of cookie with semicolons.
func NewHeaders(lines ...Header) Headers {
	if len(lines) == 0 {
		return nil
	}
	sorted := slices.Clone(lines)
	for i := range sorted {
		name := strings.ToLower(sorted[i].Name)
		if name == ":authority" {
			name = "host"
		}
		sorted[i] = Header{name, strings.Trim(sorted[i].Value, blanks)}
	}
	if sorted = withoutNominated(sorted); len(sorted) == 0 {
		return nil
	}
	slices.SortStableFunc(sorted, func(a, b Header) int { return cmp.Compare(a.Name, b.Name) })
	out := sorted[:1]
	for _, h := range sorted[1:] {
		last := &out[len(out)-1]
		switch {
		case last.Name != h.Name:
			out = append(out, h)
		case h.Name == "cookie":
			last.Value += "; " + h.Value
		default:
			last.Value += "," + h.Value
		}
	}
	return out
}

const blanks = " \t"

// withoutNominated removes the lines of headers that a connection line names. Words
// with a special meaning name no header.
func withoutNominated(lines []Header) []Header {
	var nominated []string
	for _, line := range lines {
		if line.Name != "connection" {
			continue
		}
		for name := range strings.SplitSeq(strings.ToLower(line.Value), ",") {
			switch name = strings.Trim(name, blanks); name {
			case "", "close", "keep-alive", "upgrade", "http2-settings":
			default:
				nominated = append(nominated, name)
			}
		}
	}
	return slices.DeleteFunc(lines, func(h Header) bool { return slices.Contains(nominated, h.Name) })
}

// Get returns the value of a header and reports whether it is present. The name
// must be in lower case.
func (h Headers) Get(name string) (string, bool) {
	for i := range h {
		if h[i].Name == name {
			return h[i].Value, true
		}
	}
	return "", false
}

// Seen is the proxy's view of a request to an inbound. It has a copy of the
// request, so that the caller's request need not be allocated.
type Seen struct {
	Request
	// NormalPath is the normalized path, without the query; "" if there is none or it is
	// refused.
	NormalPath string
	// PathRefused reports whether an inbound that compares paths refuses the
	// request because of its path (SPEC 11.2).
	PathRefused bool
}

// NewSeen returns a proxy's view of a request.
func NewSeen(r *Request) Seen {
	path, ok := NormalizePath(r.Path)
	if !ok {
		path = ""
	}
	return Seen{*r, path, !ok}
}
