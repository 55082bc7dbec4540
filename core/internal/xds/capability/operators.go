package capability

import "slices"

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

// OlderOperator returns the name that an operator has in all releases; "" if it is new.
func OlderOperator(operator string) string { return olderNames[operator] }

// ReleaseOfOperator returns the release that added an operator; "" if the oldest has it.
func ReleaseOfOperator(operator string) string {
	for release, operators := range newerOperators {
		if slices.Contains(operators, operator) {
			return release
		}
	}
	return ""
}
