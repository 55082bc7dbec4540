package conf

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// IntOrString is a number that is written as text if it has a fraction: 50 or "50.5".
// It retains the JSON literal, so that the output has the type of the input.
//
//confgen:openapi {"x-kubernetes-int-or-string": true, "pattern": "^[-+.0-9]+$"}
type IntOrString string

// DecodeAt accepts a whole number, or a string that is a decimal number.
func (v *IntOrString) DecodeAt(in *strict.Value) {
	switch text := in.Text(); in.Kind() {
	case strict.Int:
		var n int64
		strict.Decode(in, &n)
		*v = IntOrString(strconv.FormatInt(n, 10))
	case strict.Float:
		in.At().Errorf(diag.WrongType, "write "+strconv.Quote(text), "a number with a fraction must be in quotes")
	case strict.Mapping, strict.List:
		in.At().Errorf(diag.WrongType, "", "must be a whole number or a decimal number in quotes")
	default:
		if !decimal(text) {
			in.At().Errorf(diag.WrongType, "", "must be a whole number or a decimal number in quotes, not %q", text)
		}
		*v = IntOrString(strconv.Quote(text))
	}
}

func decimal(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789") == ""
}

// MarshalJSON returns the literal. A value that was not decoded and is not a JSON
// literal becomes a string.
func (v IntOrString) MarshalJSON() ([]byte, error) { return literal(string(v)) }

// Float returns the number.
func (v IntOrString) Float() float64 {
	f, _ := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	return f
}

func literal(text string) ([]byte, error) {
	if json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	return json.Marshal(text)
}
