package capability

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An Operator is a command operator of access logs.
type Operator struct {
	release string // the first that has it
	// arguments are what may be between the parentheses; nil for none.
	arguments *regexp.Regexp
	needs     bool // arguments
	length    bool // may have a maximum length
}

// operators are the command operators of Envoy 1.40, by the release that added them. The arguments
// are those that it accepts, as far as a resource does not load otherwise.
var operators = operatorsOf([]operatorRow{
	{release: "1.35", names: `
		ACCESS_LOG_TYPE BYTES_RECEIVED BYTES_RETRANSMITTED BYTES_SENT CONNECTION_ID
		CONNECTION_TERMINATION_DETAILS CUSTOM_FLAGS DOWNSTREAM_DIRECT_LOCAL_ADDRESS
		DOWNSTREAM_DIRECT_LOCAL_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS DOWNSTREAM_DIRECT_REMOTE_PORT
		DOWNSTREAM_HANDSHAKE_DURATION DOWNSTREAM_HEADER_BYTES_RECEIVED DOWNSTREAM_HEADER_BYTES_SENT
		DOWNSTREAM_LOCAL_ADDRESS DOWNSTREAM_LOCAL_DNS_SAN DOWNSTREAM_LOCAL_EMAIL_SAN
		DOWNSTREAM_LOCAL_IP_SAN DOWNSTREAM_LOCAL_OTHERNAME_SAN DOWNSTREAM_LOCAL_PORT
		DOWNSTREAM_LOCAL_SUBJECT DOWNSTREAM_LOCAL_URI_SAN DOWNSTREAM_PEER_CERT
		DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1 DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256
		DOWNSTREAM_PEER_CHAIN_SERIALS DOWNSTREAM_PEER_DNS_SAN DOWNSTREAM_PEER_EMAIL_SAN
		DOWNSTREAM_PEER_FINGERPRINT_1 DOWNSTREAM_PEER_FINGERPRINT_256 DOWNSTREAM_PEER_IP_SAN
		DOWNSTREAM_PEER_ISSUER DOWNSTREAM_PEER_OTHERNAME_SAN DOWNSTREAM_PEER_SERIAL
		DOWNSTREAM_PEER_SUBJECT DOWNSTREAM_PEER_URI_SAN DOWNSTREAM_REMOTE_ADDRESS
		DOWNSTREAM_REMOTE_PORT DOWNSTREAM_TLS_CIPHER DOWNSTREAM_TLS_SESSION_ID DOWNSTREAM_TLS_VERSION
		DOWNSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_WIRE_BYTES_RECEIVED DOWNSTREAM_WIRE_BYTES_SENT
		DURATION FILTER_CHAIN_NAME GRPC_STATUS_NUMBER HOSTNAME LOCAL_REPLY_BODY PACKETS_RETRANSMITTED
		PROTOCOL REQUESTED_SERVER_NAME REQUEST_DURATION REQUEST_HEADERS_BYTES REQUEST_TX_DURATION
		RESPONSE_CODE RESPONSE_DURATION RESPONSE_FLAGS RESPONSE_FLAGS_LONG RESPONSE_HEADERS_BYTES
		RESPONSE_TRAILERS_BYTES RESPONSE_TX_DURATION ROUNDTRIP_DURATION ROUTE_NAME STREAM_ID
		TLS_JA3_FINGERPRINT TLS_JA4_FINGERPRINT TRACE_ID UNIQUE_ID UPSTREAM_CLUSTER
		UPSTREAM_CLUSTER_RAW UPSTREAM_CONNECTION_ID UPSTREAM_CONNECTION_POOL_READY_DURATION
		UPSTREAM_HEADER_BYTES_RECEIVED UPSTREAM_HEADER_BYTES_SENT UPSTREAM_HOST UPSTREAM_HOST_NAME
		UPSTREAM_HOST_NAME_WITHOUT_PORT UPSTREAM_LOCAL_ADDRESS UPSTREAM_LOCAL_DNS_SAN
		UPSTREAM_LOCAL_IP_SAN UPSTREAM_LOCAL_PORT UPSTREAM_LOCAL_URI_SAN UPSTREAM_PEER_CERT
		UPSTREAM_PEER_DNS_SAN UPSTREAM_PEER_IP_SAN UPSTREAM_PEER_ISSUER UPSTREAM_PEER_SUBJECT
		UPSTREAM_PEER_URI_SAN UPSTREAM_PROTOCOL UPSTREAM_REMOTE_ADDRESS UPSTREAM_REMOTE_PORT
		UPSTREAM_REQUEST_ATTEMPT_COUNT UPSTREAM_TLS_CIPHER UPSTREAM_TLS_SESSION_ID
		UPSTREAM_TLS_VERSION UPSTREAM_TRANSPORT_FAILURE_REASON UPSTREAM_WIRE_BYTES_RECEIVED
		UPSTREAM_WIRE_BYTES_SENT VIRTUAL_CLUSTER_NAME`},
	// Their times have a format; an address has the length of a prefix (see newerForms).
	{release: "1.35", arguments: `.*`, names: `
		DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT
		DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT DOWNSTREAM_PEER_CERT_V_END DOWNSTREAM_PEER_CERT_V_START
		DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT EMIT_TIME EMIT_TIME_LOCAL RESPONSE_CODE_DETAILS
		START_TIME START_TIME_LOCAL UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT UPSTREAM_PEER_CERT_V_END
		UPSTREAM_PEER_CERT_V_START UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT`},
	{release: "1.35", arguments: `CAMEL_STRING|SNAKE_STRING|NUMBER`, names: `GRPC_STATUS`},
	{release: "1.35", arguments: `(NQ|WQ)?(:(ORIG|PATH|ORIG_OR_PATH)?)?`, length: true, names: `PATH`},
	{release: "1.35", needs: true, arguments: `[^:]+:[^:]+(:(ms|us|ns))?`, names: `COMMON_DURATION`},
	{release: "1.35", needs: true, arguments: `.+`, names: `CLUSTER_METADATA UPSTREAM_METADATA`},
	{release: "1.35", needs: true, arguments: `.+`, length: true, names: `DYNAMIC_METADATA ENVIRONMENT QUERY_PARAM`},
	{release: "1.35", needs: true, arguments: metadataTypes + `(:.*)?`, length: true, names: `METADATA`},
	{release: "1.35", needs: true, arguments: `[^:]+(:(PLAIN|TYPED|FIELD:.+))?`, length: true, names: `FILTER_STATE UPSTREAM_FILTER_STATE`},
	{release: "1.35", needs: true, arguments: header, length: true, names: `REQ RESP TRAILER`},
	{release: "1.36", names: `
		DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT
		UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT`},
	{release: "1.37", names: `
		DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID
		UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID`},
	{release: "1.37", needs: true, arguments: `\{.*\}`, length: true, names: `COALESCE`},
	{release: "1.37", needs: true, arguments: header, length: true, names: `REQUEST_HEADER RESPONSE_HEADER RESPONSE_TRAILER`},
	{release: "1.38", names: `
		DOWNSTREAM_DETECTED_CLOSE_TYPE DOWNSTREAM_LOCAL_CLOSE_REASON
		DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256 DOWNSTREAM_PEER_ISSUER_SERIAL SPAN_ID
		UPSTREAM_CONNECTION_IDS_ATTEMPTED UPSTREAM_DETECTED_CLOSE_TYPE UPSTREAM_HOSTS_ATTEMPTED
		UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT UPSTREAM_HOST_NAMES_ATTEMPTED
		UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT UPSTREAM_LOCAL_CLOSE_REASON`},
	{release: "1.38", arguments: `ORIG|DECODED`, length: true, names: `QUERY_PARAMS`},
	{release: "1.39", names: `DOWNSTREAM_TLS_GROUP UPSTREAM_SERVER_NAME UPSTREAM_TLS_GROUP`},
	{release: "1.40", names: `DOWNSTREAM_CX_RTT LISTENER_NAME ROUTE_RESOLUTION_COUNT ROUTE_RESOLUTION_TIME_US`},
})

const (
	header        = `:?[^:?\s]*(\?:?[^:?\s]*)?`
	metadataTypes = `(DYNAMIC|CLUSTER|ROUTE|UPSTREAM_HOST|LISTENER|LISTENER_FILTER_CHAIN|VIRTUAL_HOST)`
)

type operatorRow struct {
	release, names, arguments string
	needs, length             bool
}

func operatorsOf(rows []operatorRow) map[string]Operator {
	all := map[string]Operator{}
	for _, row := range rows {
		o := Operator{release: row.release, needs: row.needs, length: row.length}
		if row.arguments != "" {
			o.arguments = regexp.MustCompile(`^(` + row.arguments + `)$`)
		}
		for name := range strings.FieldsSeq(row.names) {
			all[name] = o
		}
	}
	return all
}

// Operators returns the names of all operators, sorted.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// OperatorOf returns the operator of a name, such as "REQ".
func OperatorOf(name string) (o Operator, known bool) {
	o, known = operators[name]
	return o, known
}

// NeedsArguments reports whether the operator has no effect without arguments.
func (o Operator) NeedsArguments() bool { return o.needs }

// TakesLength reports whether a maximum length may follow.
func (o Operator) TakesLength() bool { return o.length }

// Accepts reports whether Envoy accepts what is between the parentheses.
func (o Operator) Accepts(arguments string) bool {
	return arguments == "" && !o.needs || arguments != "" && o.arguments != nil && o.arguments.MatchString(arguments)
}

// written is an operator as a format has it: its name, arguments and length.
var written = regexp.MustCompile(`^%([A-Z0-9_]+)(?:\((.*)\))?(:[0-9]+)?%$`)

// newerForms are forms that not all releases with the operator accept.
var newerForms = []struct {
	release string
	form    *regexp.Regexp
	text    string
}{
	{"1.37", regexp.MustCompile(`^%METADATA\(LISTENER_FILTER_CHAIN\b`), "METADATA(LISTENER_FILTER_CHAIN:...)"},
	{"1.37", dynamicLength, ""},
	{"1.38", regexp.MustCompile(`^%[A-Z_]+_ADDRESS_WITHOUT_PORT\(.+\)%$`), "..._ADDRESS_WITHOUT_PORT(LENGTH)"},
}

var dynamicLength = regexp.MustCompile(`^%DYNAMIC_METADATA(\(.*\):[0-9]+%)$`)

// olderNames are the names that some operators have in all releases.
var olderNames = map[string]string{"REQUEST_HEADER": "REQ", "RESPONSE_HEADER": "RESP", "RESPONSE_TRAILER": "TRAILER"}

// OlderOperator returns how all releases write an operator, such as %REQ(X):5%; "" if it is new.
func OlderOperator(text string) string {
	if dynamicLength.MatchString(text) {
		return strings.Replace(text, "%DYNAMIC_METADATA(", "%METADATA(DYNAMIC:", 1)
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "%"), "(")
	if older := olderNames[name]; older != "" {
		return "%" + older + "(" + rest
	}
	return ""
}

// ReleaseOfOperator returns the first release that accepts an operator as it is written, such as
// %REQ(X):5%; "" if the oldest does.
func ReleaseOfOperator(text string) (release string) {
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return ""
	}
	release = operators[parts[1]].release
	for _, newer := range newerForms {
		if newer.form.MatchString(text) {
			release = max(release, newer.release)
		}
	}
	if parts[1] == "COALESCE" {
		for _, one := range coalesced(parts[2]) {
			release = max(release, ReleaseOfOperator(one))
		}
	}
	if release == Releases[0] {
		return ""
	}
	return release
}

// coalesced returns the operators that the arguments of COALESCE name, as a format has them.
func coalesced(arguments string) (list []string) {
	var tree struct {
		Operators []json.RawMessage `json:"operators"`
	}
	if json.Unmarshal([]byte(arguments), &tree) != nil {
		return nil
	}
	for _, raw := range tree.Operators {
		var o struct {
			Command string `json:"command"`
			Param   string `json:"param"`
		}
		if json.Unmarshal(raw, &o.Command) != nil && json.Unmarshal(raw, &o) != nil {
			continue
		}
		text := "%" + o.Command
		if o.Param != "" {
			text += "(" + o.Param + ")"
		}
		list = append(list, text+"%")
	}
	return list
}
