package strict

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/diag"
)

var yamlLine = regexp.MustCompile(`line (\d+): `)

// yamlAnchor is the part of an error that quotes the document: a value that begins with an
// asterisk, which may be a key.
var yamlAnchor = regexp.MustCompile(`unknown anchor '.*' referenced`)

// yamlError returns an error of the parser with its position. It quotes nothing of the
// document.
func (s *source) yamlError(failure error) *syntaxError {
	text := strings.TrimPrefix(failure.Error(), "yaml: ")
	text = yamlAnchor.ReplaceAllString(text, "unknown anchor")
	e := &syntaxError{code: diag.BadSyntax, what: "bad YAML: " + yamlLine.ReplaceAllString(text, ""), hint: "check indentation and quotes"}
	at := unreadable(s.piece.data)
	switch {
	case at >= 0:
		e.hint = "write it as an escape in quotes, or save the file as UTF-8"
	case len(s.piece.data) <= searchedBytes:
		at = s.firstFailure(failure)
	default:
		at = s.lineOfFailure(failure, text)
	}
	switch line := lineAt(s.piece.data, at); {
	case bytes.Contains(line, []byte("{{")):
		e.hint = "it is a template: give its output, such as that of helm template"
	case bytes.HasPrefix(line, []byte("<<<<<<<")), bytes.HasPrefix(line, []byte("=======")), bytes.HasPrefix(line, []byte(">>>>>>>")):
		e.hint = "it is a mark of git: resolve the conflict"
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("\t")):
		e.hint = "indent by spaces: YAML allows no tabs there"
	}
	m := mark{s.piece.firstLine + 1, 1}.after(s.piece.data, 0, at)
	e.line, e.column = m.line, m.column
	return e
}

// lineAt returns the line that contains an offset.
func lineAt(data []byte, at int) []byte {
	begin := bytes.LastIndexAny(data[:at], "\r\n") + 1
	end := bytes.IndexAny(data[at:], "\r\n")
	if end < 0 {
		return data[begin:]
	}
	return data[begin : at+end]
}

// searchedBytes is the maximum length of a text that is parsed again, about
// sixteen times, to find the position of an error.
const searchedBytes = 64 << 10

// firstFailure returns the offset of the first character that makes the parser
// fail with the error, independent of the following text.
func (s *source) firstFailure(failure error) int {
	data := s.piece.data
	at := sort.Search(max(0, len(data)-1), func(i int) bool {
		end := i + 1
		for end < len(data) && !utf8.RuneStart(data[end]) {
			end++
		}
		return s.failsSo(end, failure)
	})
	if strings.Contains(failure.Error(), "unknown anchor") { // the parser finds it at its last character
		at = max(0, bytes.LastIndexByte(data[:at], '*'))
	}
	return at
}

// lineOfFailure returns the offset of the line in the parser's error: the line
// of the error, or the first line of the enclosing mapping or list. The parser
// counts some lines from 0.
func (s *source) lineOfFailure(failure error, text string) int {
	m := yamlLine.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	line, _ := strconv.Atoi(m[1])
	begin, end := 0, 0
	for range line {
		begin = end
		if i := bytes.IndexAny(s.piece.data[end:], "\r\n"); i >= 0 {
			if end += i + 1; bytes.HasPrefix(s.piece.data[end-1:], []byte("\r\n")) {
				end++
			}
		}
	}
	if s.failsSo(end, failure) {
		return begin
	}
	return end
}

// failsSo reports whether the text up to an offset fails with the error.
func (s *source) failsSo(end int, failure error) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(accepted(s.piece.data[:end])))
	for {
		if _, err := nextRoot(decoder); err != nil {
			return err.Error() == failure.Error()
		}
	}
}

// unreadable returns the offset of the first byte that is not valid UTF-8 or
// begins a character that YAML does not allow, or -1.
func unreadable(data []byte) int {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return -1 // UTF-16
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1,
			r < ' ' && r != '\t' && r != '\n' && r != '\r',
			r >= 0x7f && r < 0xa0 && r != 0x85,
			r == 0xfffe || r == 0xffff:
			return i
		}
		i += size
	}
	return -1
}
