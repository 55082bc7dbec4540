package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
)

// JSON returns the JSON of an answer, indented by two spaces. It does not escape <, >
// and &, but escapes control characters that a terminal may interpret.
func JSON(answer any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(answer)
	return escapeControls(b.Bytes()), err
}

// escapeControls escapes the control characters that JSON allows unescaped.
func escapeControls(data []byte) []byte {
	isControl := func(r rune) bool { return r > unicode.MaxASCII-1 && unicode.IsControl(r) }
	if bytes.IndexFunc(data, isControl) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
