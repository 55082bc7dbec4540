package rbac

// condition is a condition on a request, which both forms of a filter can
// express. Conditions are immutable and shared.
type condition struct {
	op   operator
	on   input        // of opCompare
	text text         // of opCompare
	subs []*condition // of opNot, which has one, and of opAll and opAny, which have two or more
}

type operator uint8

const (
	opCompare operator = iota
	opNot
	opAll
	opAny
	opAlways
)

// input is what is compared; what is absent meets no comparison.
type input struct {
	kind   inputKind
	header string // in lower case
}

type inputKind uint8

const (
	clientURI  inputKind = iota // in the matcher form all of them, joined by commas; in the rules form any
	serverName                  // in the matcher form only
	urlPath                     // without the query; in the rules form only
	httpHeader
)

// text is how a text is compared.
type text struct {
	how   textHow
	value string
}

type textHow uint8

const (
	textExact textHow = iota
	textPrefix
	textRegex // RE2, to the whole
	textAny
)

func comparison(on input, how textHow, value string) *condition {
	switch {
	case how == textPrefix && value == "": // Envoy refuses an empty one
		how = textAny
	case how == textRegex && value == "":
		how = textExact
	}
	return &condition{op: opCompare, on: on, text: text{how, value}}
}

func negation(c *condition) *condition { return &condition{op: opNot, subs: []*condition{c}} }

// allOf returns the condition that all of the conditions hold.
func allOf(cs ...*condition) *condition { return combined(opAll, cs) }

// anyOf returns the condition that one of the conditions holds.
func anyOf(cs ...*condition) *condition { return combined(opAny, cs) }

func combined(op operator, cs []*condition) *condition {
	if len(cs) == 1 {
		return cs[0]
	}
	return &condition{op: op, subs: cs}
}
