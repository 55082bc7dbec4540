package meshaccesslog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
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

var operator = regexp.MustCompile(`^%([A-Z0-9_]+)(\(.*?\))?(:[0-9]+)?%`)

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
		validateOperator(at, match)
		format = rest[len(match[0])-1:]
	}
}

// validateOperator checks an operator: the whole, its name, its arguments with their parentheses,
// and its length.
func validateOperator(at *diag.At, match []string) {
	written, name, length := match[0], match[1], match[3]
	arguments := strings.TrimSuffix(strings.TrimPrefix(match[2], "("), ")")
	o, known := capability.OperatorOf(name)
	switch {
	case slices.Contains(kumaOperators, name):
		if written != "%"+name+"%" {
			at.Errorf(diag.FieldNotAllowed, "write %"+name+"%", "operator %s has no arguments and no length", name)
		}
	case !known:
		at.Errorf(diag.UnknownValue, "see Envoy's command operators; the operators of the mesh are "+strings.Join(kumaOperators, ", "), "unknown operator %q", name)
	case o.NeedsArguments() && arguments == "":
		at.Errorf(diag.MissingField, "write such as %"+name+"(NAME)%", "operator %s needs arguments", name)
	case !o.Accepts(arguments):
		at.Errorf(diag.BadValue, "see Envoy's command operators", "operator %s does not take the arguments %q", name, arguments)
	case length != "" && !o.TakesLength():
		at.Errorf(diag.FieldNotAllowed, "leave the length out", "operator %s has no length", name)
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
