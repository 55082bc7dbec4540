package rbac

// condition is a condition on a request that both forms of a filter can express.
// Conditions are immutable and shared.
type condition struct {
	op   operator
	on   input        // of opCompare
	text text         // of opCompare
	subs []*condition // one of opNot; two or more of opAll and opAny
}

type operator uint8

const (
	opCompare operator = iota
	opNot
	opAll
	opAny
	opAlways
)

// input is the part of a request that is compared. If it is absent, no comparison holds.
type input struct {
	kind   inputKind
	header string // in lower case
}

type inputKind uint8

const (
	clientURI  inputKind = iota // matcher form: all URI SANs, joined by commas; rules form: any of them
	serverName                  // in the matcher form only
	urlPath                     // without the query; in the rules form only
	httpHeader
)

// text is a text and the way in which it is compared with an input.
type text struct {
	how   textHow
	value string
}

type textHow uint8

const (
	textExact textHow = iota
	textPrefix
	textRegex // RE2, for the whole text
	textAny
)

func comparison(on input, how textHow, value string) *condition {
	switch {
	case how == textPrefix && value == "": // Envoy refuses an empty prefix
		how = textAny
	case how == textRegex && value == "":
		how = textExact
	}
	return &condition{op: opCompare, on: on, text: text{how, value}}
}

func negation(c *condition) *condition { return &condition{op: opNot, subs: []*condition{c}} }

// allOf returns a condition that holds if all of the conditions hold.
func allOf(cs ...*condition) *condition { return combined(opAll, cs) }

// anyOf returns a condition that holds if at least one of the conditions holds.
func anyOf(cs ...*condition) *condition { return combined(opAny, cs) }

func combined(op operator, cs []*condition) *condition {
	if len(cs) == 1 {
		return cs[0]
	}
	return &condition{op: op, subs: cs}
}
