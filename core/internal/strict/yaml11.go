package strict

import (
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Kuma and kubectl read text without quotes as YAML 1.1. It differs from YAML 1.2 in words for
// booleans, in octal and binary numbers, and in numbers with underscores.

// OtherScalar is a scalar that means something else in YAML 1.1 than in YAML 1.2.
type OtherScalar struct {
	Pos        diag.Position
	Text       string
	Old, Since string // the values by YAML 1.1 and by YAML 1.2
}

// OtherScalars returns the values of a document in YAML that mean something else in YAML 1.1, in
// the order of the text.
func (d *Document) OtherScalars() []OtherScalar {
	var others []OtherScalar
	for _, i := range d.others {
		text := string(d.text.textOf(int(i)))
		if old, differs := inYAML11(text); differs {
			others = append(others, otherScalar(d.text.position(int(i)), text, old))
		}
	}
	return others
}

func otherScalar(pos diag.Position, text, old string) OtherScalar {
	since := "the text " + strconv.Quote(text)
	if plainKind(text) == Int {
		n, _ := parseInt(text, 64)
		since = aNumber + strconv.FormatInt(n, 10)
	}
	return OtherScalar{Pos: pos, Text: text, Old: old, Since: since}
}

// mayDiffer reports whether a text may mean something else in YAML 1.1, by its first byte.
func mayDiffer(text []byte) bool {
	switch text[0] {
	case 'y', 'Y', 'n', 'N', 'o', 'O':
		return len(text) <= len("off")
	case '+', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		_, differs := inYAML11(string(text))
		return differs
	}
	return false
}

const aNumber = "the number "

// inYAML11 returns the value that a text without quotes has in YAML 1.1, if it is another one
// than in YAML 1.2.
func inYAML11(text string) (value string, differs bool) {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return "true", true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return "false", true
	}
	digits := strings.TrimLeft(text, "+-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(text)-len(digits) > 1 {
		return "", false
	}
	isOctal := digits[0] == '0' && len(digits) > 1 && '0' <= digits[1] && digits[1] <= '9'
	if !isOctal && !strings.Contains(digits, "_") && !strings.HasPrefix(digits, "0b") {
		return "", false
	}
	plain := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(plain, 0, 64); err == nil {
		since, err := parseInt(text, 64)
		if plainKind(text) == Int && err == nil && n == since {
			return "", false
		}
		return aNumber + strconv.FormatInt(n, 10), true
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil && plain != text {
		return aNumber + strconv.FormatFloat(f, 'g', -1, 64), true
	}
	return "", false
}
