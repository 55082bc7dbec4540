package translators

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
)

// newerOperators are the command operators of access logs that not all supported releases of
// Envoy have, by the release that added them. An older one refuses a listener with such an
// operator.
var newerOperators = map[string][]string{
	"1.37": {
		"COALESCE", "DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID", "DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID",
		"REQUEST_HEADER", "RESPONSE_HEADER", "RESPONSE_TRAILER", "UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID",
	},
	"1.38": {
		"DOWNSTREAM_DETECTED_CLOSE_TYPE", "DOWNSTREAM_LOCAL_CLOSE_REASON", "DOWNSTREAM_PEER_ISSUER_SERIAL",
		"QUERY_PARAMS", "SPAN_ID", "UPSTREAM_CONNECTION_IDS_ATTEMPTED", "UPSTREAM_DETECTED_CLOSE_TYPE",
		"UPSTREAM_HOSTS_ATTEMPTED", "UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT", "UPSTREAM_HOST_NAMES_ATTEMPTED",
		"UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT", "UPSTREAM_LOCAL_CLOSE_REASON",
	},
	"1.39": {"DOWNSTREAM_TLS_GROUP", "UPSTREAM_SERVER_NAME", "UPSTREAM_TLS_GROUP"},
	"1.40": {"DOWNSTREAM_CX_RTT", "ROUTE_RESOLUTION_COUNT", "ROUTE_RESOLUTION_TIME_US"},
}

// olderNames are the names that some of newerOperators have in all releases.
var olderNames = map[string]string{"REQUEST_HEADER": "REQ", "RESPONSE_HEADER": "RESP", "RESPONSE_TRAILER": "TRAILER"}

// knownOperators replaces the operators of a format that a client lacks: by the older name, or
// by what Envoy writes for a value that is absent. It calls missing for the latter, with the
// release that has the operator.
func knownOperators(lacks capability.Set, format string, missing func(operator, release string)) string {
	if lacks&releaseAPIs == 0 {
		return format
	}
	return meshaccesslog.EditOperators(format, func(name, written string) string {
		release := releaseOf(name)
		switch older := olderNames[name]; {
		case release == "" || !lacks.Has(capability.API(release)):
			return written
		case older != "":
			return strings.Replace(written, name, older, 1)
		}
		missing(name, release)
		return "-"
	})
}

// releaseOf returns the release that added an operator; "" if the oldest has it.
func releaseOf(operator string) string {
	for release, operators := range newerOperators {
		if slices.Contains(operators, operator) {
			return release
		}
	}
	return ""
}
