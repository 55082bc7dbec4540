package rbac

import (
	"regexp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The matcher form has one input for the URI SANs of a client's certificate: all
// of them, joined by commas. A client's SPIFFE ID is the one that begins with
// spiffe:// (SPEC 7.2), so a comparison of an ID accepts other URIs around it,
// and a client with several IDs is decided apart, as one without an ID. A URI with a
// comma would look like two, so [CommaFilter] refuses its client.

// amongURIs returns an expression that holds if one of the URI SANs matches. The
// expression must not match a comma.
func amongURIs(expression string) string {
	return uriBefore + expression + uriAfter
}

const uriBefore, uriAfter = `(?:\C*,)?`, `(?:,\C*)?`

// severalURIs matches the URI SANs of a client that has more than one.
const severalURIs = `\C*,\C*`

// NoSingleID is the regular expression of the URI SANs of a client that has no SPIFFE
// ID though one of them may begin with spiffe://: two of them do, in any letter case.
const NoSingleID = `(?:\C*,)?` + spiffeScheme + `\C*,` + spiffeScheme + `\C*`

const spiffeScheme = `[Ss][Pp][Ii][Ff][Ff][Ee]://`

// ofSegments is the part of a SPIFFE ID below a prefix: segments that are neither empty
// nor a dot segment. What is not a SPIFFE ID lies below no prefix (SPEC 7.2).
const ofSegments = `(?:/\.{0,2}[\w-][\w.-]*|/\.{3}[\w.-]*)*`

// SpiffeIDExpression returns the regular expression of a condition on a SPIFFE ID, for
// the URI SANs of a client joined by commas. A client with several SPIFFE IDs has none
// (SPEC 7.2): [NoSingleID] matches its URI SANs.
func SpiffeIDExpression(m *conf.SpiffeIDMatch) string {
	if m.Type == conf.SpiffeIDExact {
		return amongURIs(quoted(m.Value))
	}
	return amongURIs(belowID(m))
}

// belowID returns an expression for the SPIFFE IDs of a prefix.
func belowID(m *conf.SpiffeIDMatch) string {
	return quoted(request.TrimSlash(m.Value)) + ofSegments
}

func quoted(text string) string { return regexp.QuoteMeta(text) }

// TagExpression returns the regular expression of a condition on a tag of the client,
// for the URI SANs of the client joined by commas.
func TagExpression(tag resource.Tag) string { return amongURIs(tagRegex(tag)) }

// tagRegex returns an expression for the URI SAN of a tag. Keys may have slashes
// and values have none, so any value of a key ends at the end of the URI:
// kuma://team/lead/a is no value of team.
func tagRegex(tag resource.Tag) string {
	key := quoted(request.TagURI + tag.Key + "/")
	if tag.Value == resource.AnyValue {
		return key + `[^/,]+`
	}
	return key + quoted(tag.Value)
}
