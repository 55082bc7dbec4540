package meshaccesslog

import (
	"iter"
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

// A piece of a format is text, an operator or a percent sign. Only an operator has a name.
type piece struct {
	written   string // %% is a percent sign, % begins no operator
	name      string
	arguments string // without their parentheses
	length    string
}

// closing ends the arguments of an operator, and begin is what precedes them.
var (
	begin   = regexp.MustCompile(`^%([A-Z0-9_]+)(?:(\()|(?::([0-9]+))?%)`)
	closing = regexp.MustCompile(`\)(?::([0-9]+))?%`)
)

// pieces yields the pieces of a format, in linear time: what closes the arguments of an operator is
// searched once for all operators before it.
func pieces(format string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		var closes []int // the next match of closing; nil: not searched
		newline := -1    // arguments are in one line
		for at := 0; at < len(format); {
			rest := format[at:]
			if rest[0] != '%' {
				text, _, _ := strings.Cut(rest, "%")
				if at += len(text); !yield(piece{written: text}) {
					return
				}
				continue
			}
			p := piece{written: rest[:min(2, len(rest))]}
			match := begin.FindStringSubmatchIndex(rest)
			switch {
			case p.written == "%%":
			case match == nil:
				p.written = "%"
			case match[4] < 0:
				p.written, p.name, p.length = rest[:match[1]], rest[match[2]:match[3]], rest[max(match[6], 0):max(match[7], 0)]
			default:
				arguments := at + match[1]
				if closes == nil || closes[0] < arguments {
					if closes = closing.FindStringSubmatchIndex(format[arguments:]); closes == nil {
						closes = []int{len(format), len(format), -1, -1}
					} else {
						for i := range closes {
							closes[i] += arguments
						}
					}
				}
				if newline < arguments {
					if newline = strings.IndexByte(format[arguments:], '\n'); newline < 0 {
						newline = len(format)
					} else {
						newline += arguments
					}
				}
				if p.written = "%"; closes[0] < min(newline, len(format)) {
					p = piece{written: format[at:closes[1]], name: rest[match[2]:match[3]], arguments: format[arguments:closes[0]]}
					if closes[2] >= arguments {
						p.length = format[closes[2]:closes[3]]
					}
				}
			}
			if at += len(p.written); !yield(p) {
				return
			}
		}
	}
}

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
	for p := range pieces(format) {
		if p.name != "" {
			p.written = edit(p.name, p.written)
		}
		b.WriteString(p.written)
	}
	return b.String()
}

// validateOperators checks that Envoy accepts a format.
func validateOperators(at *diag.At, format string) {
	for p := range pieces(format) {
		switch {
		case p.name != "":
			validateOperator(at, p)
		case p.written == "%":
			at.Errorf(diag.BadValue, "write %% for a percent sign", "a %% that begins no operator")
			return
		}
	}
}

// validateOperator checks an operator.
func validateOperator(at *diag.At, p piece) {
	o, known := capability.OperatorOf(p.name)
	switch name := p.name; {
	case slices.Contains(kumaOperators, name):
		if p.written != "%"+name+"%" {
			at.Errorf(diag.FieldNotAllowed, "write %"+name+"%", "operator %s has no arguments and no length", name)
		}
	case !known:
		at.Errorf(diag.UnknownValue, "see Envoy's command operators; the operators of the mesh are "+strings.Join(kumaOperators, ", "), "unknown operator %q", name)
	case o.NeedsArguments() && p.arguments == "":
		at.Errorf(diag.MissingField, "write such as %"+name+"(NAME)%", "operator %s needs arguments", name)
	case !o.Accepts(p.arguments):
		at.Errorf(diag.BadValue, "see Envoy's command operators", "operator %s does not take the arguments %q", name, p.arguments)
	case p.length != "" && !o.TakesLength():
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
	for p := range pieces(format) {
		if p.name == "" {
			continue
		}
		if values++; client == "" && slices.Contains(clientOperators, p.name) {
			client = p.written
		}
	}
	if values > 1 && client != "" {
		at.Warnf(diag.ForgeableLog, "use the format Json, or leave the format out", "the value of %s is text from a client: it can contain a separator and forge other fields", client)
	}
}
