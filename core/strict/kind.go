package strict

import (
	"strconv"
	"strings"
)

// Kind is the kind of a value in a document.
type Kind uint8

// The kinds.
const (
	Mapping Kind = iota + 1
	List
	String
	Int // a whole number
	Float
	Bool
	Null
)

// plainKind returns the kind of a scalar without quotes and tag, by the core
// schema of YAML 1.2.
func plainKind[T []byte | string](text T) Kind {
	if len(text) == 0 {
		return Null
	}
	switch text[0] {
	case '~', 'n', 'N', 't', 'T', 'f', 'F', '.', '-', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
	default:
		return String
	}
	switch string(text) {
	case "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	case ".nan", ".NaN", ".NAN":
		return Float
	}
	if first := text[0]; first != '-' && first != '+' && first != '.' && (first < '0' || first > '9') {
		return String
	}
	return numberKind(string(text))
}

// numberKind is plainKind for a text that begins like a number.
func numberKind(text string) Kind {
	unsigned := text
	if text[0] == '-' || text[0] == '+' {
		unsigned = text[1:]
	}
	digits := strings.TrimLeft(unsigned, "0123456789")
	switch {
	case digits == "" && unsigned != "", isRadix(text):
		return Int
	case unsigned == ".inf", unsigned == ".Inf", unsigned == ".INF", isDecimal(unsigned):
		return Float
	}
	return String
}

// isRadix reports whether the text is an octal or a hexadecimal number.
func isRadix(text string) bool {
	if octal, ok := strings.CutPrefix(text, "0o"); ok {
		return octal != "" && strings.Trim(octal, "01234567") == ""
	}
	hexadecimal, ok := strings.CutPrefix(text, "0x")
	return ok && hexadecimal != "" && strings.Trim(hexadecimal, "0123456789abcdefABCDEF") == ""
}

// isDecimal reports whether the text is a number with digits before or after a
// point, and optionally an exponent.
func isDecimal(text string) bool {
	const digits = "0123456789"
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			exponent = exponent[1:]
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return whole+fraction != "" && exponent != "" && strings.Trim(whole+fraction+exponent, digits) == ""
}

// sign reports whether an [Int] has a minus sign, and whether it is zero.
func sign(text string) (negative, zero bool) {
	digits, negative := strings.CutPrefix(text, "-")
	return negative, strings.Trim(digits, "0") == ""
}

// parseInt returns the value of an [Int].
func parseInt(text string, bits int) (int64, error) {
	digits, base := radix(text)
	return strconv.ParseInt(digits, base, bits)
}

// parseUint returns the value of an [Int] that is not negative.
func parseUint(text string, bits int) (uint64, error) {
	if negative, zero := sign(text); negative && zero {
		return 0, nil
	}
	digits, base := radix(text)
	return strconv.ParseUint(digits, base, bits)
}

// radix returns the digits of an [Int], with a minus sign, and their base.
func radix(text string) (digits string, base int) {
	switch {
	case strings.HasPrefix(text, "0o"):
		return text[2:], 8
	case strings.HasPrefix(text, "0x"):
		return text[2:], 16
	}
	return strings.TrimPrefix(text, "+"), 10
}

// parseFloat returns the value of an [Int] or a [Float].
func parseFloat(text string, bits int) (float64, error) {
	if isRadix(text) {
		n, err := parseUint(text, 64)
		return float64(n), err
	}
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case ".inf", ".nan":
		text = strings.Replace(text, ".", "", 1)
	}
	return strconv.ParseFloat(text, bits)
}

// describe describes a scalar, or the kind of another value, for a message.
func describe(kind Kind, text string) string {
	switch kind {
	case Mapping:
		return "a mapping"
	case List:
		return "a list"
	case Int, Float:
		return "the number " + text
	case String:
		return "the string " + strconv.Quote(text)
	case Null:
		return "null"
	}
	return text
}
