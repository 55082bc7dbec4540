package capability

import (
	_ "embed"
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

// operatorsText are the command operators of Envoy, by the release that added them.
//
//go:embed operators.txt
var operatorsText string

var operators = readOperators(operatorsText)

// readOperators reads groups of operators; the text describes their form.
func readOperators(text string) map[string]Operator {
	all := map[string]Operator{}
	var o Operator
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); line[0] {
		case '#':
		case ' ':
			for _, name := range words {
				all[name] = o
			}
		default:
			o = Operator{release: words[0], needs: slices.Contains(words[2:], "needs"), length: slices.Contains(words[2:], "length")}
			if words[1] != "-" {
				o.arguments = regexp.MustCompile(`^(` + words[1] + `)$`)
			}
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
