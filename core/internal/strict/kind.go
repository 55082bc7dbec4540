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
	switch text[0] {
	case '~', 'n', 'N', 't', 'T', 'f', 'F':
		return String
	}
	return numberKind(text)
}

// numberKind is plainKind for a text that begins like a number. Addresses and versions begin
// like this too.
func numberKind[T []byte | string](text T) Kind {
	begin := 0
	if text[0] == '-' || text[0] == '+' {
		begin = 1
	}
	point := digits(text, begin)
	end := point
	switch {
	case point == len(text) && point > begin:
		return Int
	case point == len(text):
		return String
	case text[point] == '.':
		if end = digits(text, point+1); end == point+1 && point == begin { // no digits
			return infinityKind(text[begin:])
		}
	case point == begin:
		return String
	}
	if end == len(text) {
		return Float
	}
	if text[end] == 'e' || text[end] == 'E' {
		exponent := end + 1
		if exponent < len(text) && (text[exponent] == '-' || text[exponent] == '+') {
			exponent++
		}
		if end = digits(text, exponent); end == len(text) && end > exponent {
			return Float
		}
		return String
	}
	if isRadix(text) {
		return Int
	}
	return String
}

// digits returns the end of the decimal digits that begin at an index.
func digits[T []byte | string](text T, i int) int {
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return i
}

func infinityKind[T []byte | string](text T) Kind {
	switch string(text) {
	case ".inf", ".Inf", ".INF":
		return Float
	}
	return String
}

// isRadix reports whether the text is an octal or a hexadecimal number.
func isRadix[T []byte | string](text T) bool {
	if len(text) < 3 || text[0] != '0' {
		return false
	}
	switch text[1] {
	case 'o':
		return strings.Trim(string(text[2:]), "01234567") == ""
	case 'x':
		return strings.Trim(string(text[2:]), "0123456789abcdefABCDEF") == ""
	}
	return false
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
