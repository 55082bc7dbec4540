package rbac

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The matcher form has one input for the URI SANs of a client's certificate: all of them,
// joined by commas. A client's SPIFFE ID is the one that begins with spiffe:// (SPEC 7.2),
// so a comparison of an ID accepts other URIs around it. A client with several IDs would
// match each of them, so [SeveralFilter] or [CommaFilter] denies it before. A URI with a comma
// would look like two URIs, so [CommaFilter] refuses the client.

// amongURIs returns an expression that matches the joined URI SANs if one of them matches
// the given expression, which must not match a comma.
func amongURIs(expression string) string {
	return uriBefore + expression + uriAfter
}

const uriBefore, uriAfter = `(?:\C*,)?`, `(?:,\C*)?`

// severalURIs matches the URI SANs of a client that has more than one.
const severalURIs = `\C*,\C*`

// NoSingleID is a regular expression for the joined URI SANs of a client. It matches if two
// of them begin with spiffe://, in any letter case: such a client has no SPIFFE ID.
const NoSingleID = `(?:(?:^|\C*,)` + spiffeScheme + `\C*){2}`

// spiffeScheme matches spiffe:// in any letter case. With the flag i, an s would match the long
// s (U+017F) too.
const spiffeScheme = `[Ss](?i:piffe)://`

// ofSegments is the part of a SPIFFE ID below a prefix: segments that are neither empty nor
// a dot segment. Text that is not a SPIFFE ID is below no prefix (SPEC 7.2).
const ofSegments = `(?:/\.{0,2}[\w-][\w.-]*|/\.{3}[\w.-]*)*`

// SpiffeIDExpression returns the regular expression of a condition on a SPIFFE ID, for the
// URI SANs of a client joined by commas. Where a client may have several SPIFFE IDs, a caller
// must compare [NoSingleID] first: such a client has no ID (SPEC 7.2).
func SpiffeIDExpression(m *conf.SpiffeIDMatch) string {
	if m.Type == conf.SpiffeIDExact {
		return amongURIs(quoted(m.Value))
	}
	return amongURIs(belowID(m))
}

// belowID returns an expression for the SPIFFE IDs with a prefix.
func belowID(m *conf.SpiffeIDMatch) string {
	prefix, rest := splitPrefix(m)
	return quoted(prefix) + rest
}

// splitPrefix returns the prefix of a match as it is compared, and an expression for what may be
// splitPrefix it in a SPIFFE ID. A prefix of text may end within the trust domain or a segment.
func splitPrefix(m *conf.SpiffeIDMatch) (prefix, rest string) {
	if m.Type != conf.SpiffeIDTextPrefix {
		return request.TrimSlash(m.Value), ofSegments
	}
	_, path, hasPath := strings.Cut(strings.TrimPrefix(m.Value, "spiffe://"), "/")
	switch {
	case !hasPath:
		return m.Value, `[a-z0-9._-]*` + ofSegments
	case path == "" || strings.HasSuffix(path, "/"):
		return strings.TrimSuffix(m.Value, "/"), `(?:/\.{0,2}[\w-][\w.-]*|/\.{3}[\w.-]*)+`
	}
	return m.Value, `[\w.-]*` + ofSegments
}

func quoted(text string) string { return regexp.QuoteMeta(text) }

// TagExpression returns the regular expression of a condition on a tag of the client,
// for the URI SANs of the client joined by commas.
func TagExpression(tag resource.Tag) string { return amongURIs(tagRegex(tag)) }

// tagRegex returns an expression for the URI SAN of a tag. Keys may contain slashes, and
// values cannot, so a value extends to the end of the URI: kuma://team/lead/a has no value
// of team.
func tagRegex(tag resource.Tag) string {
	key := quoted(request.TagURI + tag.Key + "/")
	if tag.Value == resource.AnyValue {
		return key + `[^/,]+`
	}
	return key + quoted(tag.Value)
}
