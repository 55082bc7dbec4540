package naive

import (
	"regexp"
	"strings"
)

// spiffeID matches a SPIFFE ID by its specification (SPEC 7.2), but also accepts dot
// segments in the path.
var spiffeID = regexp.MustCompile(`^spiffe://[a-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

// ClientID implements SPEC 7.2: it returns the SPIFFE ID of a client whose certificate
// has the URI SANs, or "". An inbound refuses a certificate that has a URI with a comma
// (SPEC 11.6).
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
