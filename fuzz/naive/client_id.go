package naive

import (
	"regexp"
	"strings"
)

// spiffeID is a SPIFFE ID by its specification (SPEC 7.2), except that a segment of the
// path may be a dot segment.
var spiffeID = regexp.MustCompile(`^spiffe://[a-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

// ClientID is SPEC 7.2: the SPIFFE ID of a client whose certificate has the URI SANs, or
// "". One with a comma is in a certificate that an inbound refuses (SPEC 11.6).
func ClientID(uris []string) string {
	id, ids := "", 0
	for _, uri := range uris {
		if strings.Contains(uri, ",") {
			return ""
		}
		if len(uri) >= 9 && strings.ToLower(uri[:9]) == "spiffe://" {
			id = uri
			ids++
		}
	}
	if ids != 1 || !spiffeID.MatchString(id) {
		return ""
	}
	for segment := range strings.SplitSeq(id, "/") {
		if segment == "." || segment == ".." {
			return ""
		}
	}
	return id
}
