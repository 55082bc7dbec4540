package meshaccesslog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A format may contain command operators: %NAME%, %NAME(ARGUMENTS)% and, with a maximum
// number of bytes, %NAME(ARGUMENTS):LENGTH%; %% is a percent sign. The control plane
// replaces operators whose names begin with KUMA_. Envoy evaluates the others, and
// rejects a listener with an unknown operator.

// Operators that the control plane replaces (SPEC 11.5).
const (
	MeshOperator                     = "KUMA_MESH"
	ZoneOperator                     = "KUMA_ZONE" // of the proxy
	WorkloadOperator                 = "KUMA_WORKLOAD"
	SourceServiceOperator            = "KUMA_SOURCE_SERVICE"
	DestinationServiceOperator       = "KUMA_DESTINATION_SERVICE"
	SourceAddressOperator            = "KUMA_SOURCE_ADDRESS"
	SourceAddressWithoutPortOperator = "KUMA_SOURCE_ADDRESS_WITHOUT_PORT"
	DirectionOperator                = "KUMA_TRAFFIC_DIRECTION" // INBOUND or OUTBOUND
)

var kumaOperators = []string{
	MeshOperator, ZoneOperator, WorkloadOperator, SourceServiceOperator, DestinationServiceOperator,
	SourceAddressOperator, SourceAddressWithoutPortOperator, DirectionOperator,
}

// envoyOperators are the operators of Envoy 1.40 that need no arguments.
var envoyOperators = strings.Fields(`
	ACCESS_LOG_TYPE BYTES_RECEIVED BYTES_RETRANSMITTED BYTES_SENT CONNECTION_ID
	CONNECTION_TERMINATION_DETAILS CUSTOM_FLAGS DOWNSTREAM_CX_RTT
	DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT
	DOWNSTREAM_DETECTED_CLOSE_TYPE DOWNSTREAM_DIRECT_LOCAL_ADDRESS
	DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT
	DOWNSTREAM_DIRECT_LOCAL_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS
	DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_REMOTE_PORT
	DOWNSTREAM_HANDSHAKE_DURATION DOWNSTREAM_HEADER_BYTES_RECEIVED DOWNSTREAM_HEADER_BYTES_SENT
	DOWNSTREAM_LOCAL_ADDRESS DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID
	DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_LOCAL_CLOSE_REASON DOWNSTREAM_LOCAL_DNS_SAN
	DOWNSTREAM_LOCAL_EMAIL_SAN DOWNSTREAM_LOCAL_IP_SAN DOWNSTREAM_LOCAL_OTHERNAME_SAN
	DOWNSTREAM_LOCAL_PORT DOWNSTREAM_LOCAL_SUBJECT DOWNSTREAM_LOCAL_URI_SAN DOWNSTREAM_PEER_CERT
	DOWNSTREAM_PEER_CERT_V_END DOWNSTREAM_PEER_CERT_V_START DOWNSTREAM_PEER_CHAIN_SERIALS
	DOWNSTREAM_PEER_DNS_SAN DOWNSTREAM_PEER_EMAIL_SAN DOWNSTREAM_PEER_IP_SAN
	DOWNSTREAM_PEER_ISSUER DOWNSTREAM_PEER_ISSUER_SERIAL DOWNSTREAM_PEER_OTHERNAME_SAN
	DOWNSTREAM_PEER_SERIAL DOWNSTREAM_PEER_SUBJECT DOWNSTREAM_PEER_URI_SAN
	DOWNSTREAM_REMOTE_ADDRESS DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT DOWNSTREAM_REMOTE_PORT
	DOWNSTREAM_TLS_CIPHER DOWNSTREAM_TLS_GROUP DOWNSTREAM_TLS_SESSION_ID DOWNSTREAM_TLS_VERSION
	DOWNSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_WIRE_BYTES_RECEIVED DOWNSTREAM_WIRE_BYTES_SENT
	DURATION EMIT_TIME EMIT_TIME_LOCAL FILTER_CHAIN_NAME GRPC_STATUS GRPC_STATUS_NUMBER HOSTNAME
	LOCAL_REPLY_BODY PACKETS_RETRANSMITTED PATH PROTOCOL QUERY_PARAMS REQUESTED_SERVER_NAME
	REQUEST_DURATION REQUEST_HEADERS_BYTES REQUEST_TX_DURATION RESPONSE_CODE RESPONSE_CODE_DETAILS
	RESPONSE_DURATION RESPONSE_FLAGS RESPONSE_FLAGS_LONG RESPONSE_HEADERS_BYTES
	RESPONSE_TRAILERS_BYTES RESPONSE_TX_DURATION ROUNDTRIP_DURATION ROUTE_NAME
	ROUTE_RESOLUTION_COUNT ROUTE_RESOLUTION_TIME_US SPAN_ID START_TIME START_TIME_LOCAL STREAM_ID
	TRACE_ID UNIQUE_ID UPSTREAM_CLUSTER UPSTREAM_CLUSTER_RAW UPSTREAM_CONNECTION_ID
	UPSTREAM_CONNECTION_IDS_ATTEMPTED UPSTREAM_CONNECTION_POOL_READY_DURATION
	UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT
	UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_HEADER_BYTES_RECEIVED UPSTREAM_HEADER_BYTES_SENT
	UPSTREAM_HOST UPSTREAM_HOSTS_ATTEMPTED UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT
	UPSTREAM_HOST_NAME UPSTREAM_HOST_NAMES_ATTEMPTED UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT
	UPSTREAM_HOST_NAME_WITHOUT_PORT UPSTREAM_LOCAL_ADDRESS UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT
	UPSTREAM_LOCAL_CLOSE_REASON UPSTREAM_LOCAL_DNS_SAN UPSTREAM_LOCAL_IP_SAN UPSTREAM_LOCAL_PORT
	UPSTREAM_LOCAL_URI_SAN UPSTREAM_PEER_CERT UPSTREAM_PEER_CERT_V_END UPSTREAM_PEER_CERT_V_START
	UPSTREAM_PEER_DNS_SAN UPSTREAM_PEER_IP_SAN UPSTREAM_PEER_ISSUER UPSTREAM_PEER_SUBJECT
	UPSTREAM_PEER_URI_SAN UPSTREAM_PROTOCOL UPSTREAM_REMOTE_ADDRESS
	UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT UPSTREAM_REMOTE_PORT
	UPSTREAM_REQUEST_ATTEMPT_COUNT UPSTREAM_SERVER_NAME UPSTREAM_TLS_CIPHER UPSTREAM_TLS_GROUP
	UPSTREAM_TLS_SESSION_ID UPSTREAM_TLS_VERSION UPSTREAM_TRANSPORT_FAILURE_REASON
	UPSTREAM_WIRE_BYTES_RECEIVED UPSTREAM_WIRE_BYTES_SENT VIRTUAL_CLUSTER_NAME
`)

// envoyFunctions are the operators of Envoy 1.40 that need arguments.
var envoyFunctions = strings.Fields(`
	CLUSTER_METADATA COALESCE COMMON_DURATION DYNAMIC_METADATA ENVIRONMENT FILTER_STATE METADATA
	QUERY_PARAM REQ REQUEST_HEADER RESP RESPONSE_HEADER RESPONSE_TRAILER TRAILER
	UPSTREAM_FILTER_STATE UPSTREAM_METADATA
`)

var operator = regexp.MustCompile(`^%([A-Z0-9_]+)(\(.*?\))?(?::[0-9]+)?%`)

// ReplaceOperators returns a format in which each operator of the control plane is
// replaced by the result of value, which is also a format. The format must be valid.
func ReplaceOperators(format string, value func(name string) string) string {
	return EditOperators(format, func(name, written string) string {
		if slices.Contains(kumaOperators, name) {
			return value(name)
		}
		return written
	})
}

// EditOperators returns a format in which each operator is replaced by the result of edit,
// which is also a format. Written is the whole operator, such as %REQ(X):5%. The format must
// be valid.
func EditOperators(format string, edit func(name, written string) string) string {
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(format, "%")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		match := operator.FindStringSubmatch("%" + rest)
		switch {
		case strings.HasPrefix(rest, "%"):
			b.WriteString("%%")
			format = rest[1:]
		case match != nil:
			b.WriteString(edit(match[1], match[0]))
			format = rest[len(match[0])-1:]
		default:
			b.WriteByte('%')
			format = rest
		}
	}
}

// validateOperators checks that Envoy accepts a format.
func validateOperators(at *diag.At, format string) {
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return
		}
		if strings.HasPrefix(rest, "%") {
			format = rest[1:]
			continue
		}
		match := operator.FindStringSubmatch("%" + rest)
		if match == nil {
			at.Errorf(diag.BadValue, "write %% for a percent sign", "a %% that begins no operator")
			return
		}
		name, arguments := match[1], match[2]
		switch {
		case slices.Contains(kumaOperators, name):
			if match[0] != "%"+name+"%" {
				at.Errorf(diag.FieldNotAllowed, "write %"+name+"%", "operator %s has no arguments and no length", name)
			}
		case slices.Contains(envoyFunctions, name):
			if arguments == "" {
				at.Errorf(diag.MissingField, "write such as %"+name+"(NAME)%", "operator %s needs arguments", name)
			}
		case !slices.Contains(envoyOperators, name):
			at.Errorf(diag.UnknownValue, "see Envoy's command operators; the operators of the mesh are "+strings.Join(kumaOperators, ", "), "unknown operator %q", name)
		}
		format = rest[len(match[0])-1:]
	}
}

// clientOperators are the operators whose value is text from a client, which may contain
// any separator.
var clientOperators = []string{"REQ", "REQUEST_HEADER", "PATH", "QUERY_PARAM", "QUERY_PARAMS", "COALESCE"}

// warnOfSeparators warns if a line of text contains text from a client in addition to
// another value: the client can end its field and write the next one. The format must
// be valid.
func warnOfSeparators(at *diag.At, format string) {
	var values int
	var client string
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			format = rest[1:]
			continue
		}
		match := operator.FindStringSubmatch("%" + rest)
		if match == nil {
			return // the format has an error
		}
		if values++; client == "" && slices.Contains(clientOperators, match[1]) {
			client = match[0]
		}
		format = rest[len(match[0])-1:]
	}
	if values > 1 && client != "" {
		at.Warnf(diag.ForgeableLog, "use the format Json, or leave the format out", "the value of %s is text from a client: it can contain a separator and forge other fields", client)
	}
}
