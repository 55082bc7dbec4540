package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// value is the text of a field. If the record does not have the field, it is missing. If
// the field is null, the text is absent, because the request has none.
type value struct {
	is   presence
	text string // part of the line, unless it has escapes
}

type presence uint8

const (
	missing presence = iota
	absent
	given
)

var (
	errTooLong  = fmt.Errorf("the line is longer than %d bytes", maxLine)
	errNoJSON   = errors.New("not valid JSON")
	errNoObject = errors.New("not a JSON object")
	errNoUTF8   = errors.New("not UTF-8")
)

// parse reads the fields of a line into values, one for each field. text must equal line.
// The error is the reason why the line is not a record.
func (f *Fields) parse(line []byte, text string, values []value) error {
	switch {
	case !utf8.Valid(line):
		return errNoUTF8
	case !json.Valid(line):
		return errNoJSON
	}
	clear(values)
	s := scanner{text: text}
	if s.next() != '{' {
		return errNoObject
	}
	s.at++
	for s.next() != '}' {
		key := s.string()
		s.next()
		s.at++ // the colon
		i, wanted := f.keys[key]
		switch first := s.next(); {
		case !wanted:
			s.skip()
		case values[i].is != missing:
			return fmt.Errorf("the field %q is repeated", key)
		case first == '"':
			values[i] = value{given, s.string()}
		case first == 'n':
			values[i] = value{is: absent}
			s.skip()
		case i == startTime: // a number is no time, and spoils no decision
			s.skip()
		default:
			return fmt.Errorf("the field %q is neither a string nor null", key)
		}
		if s.next() == ',' {
			s.at++
		}
	}
	return nil
}

// scanner reads a valid JSON text.
type scanner struct {
	text string
	at   int
}

// next moves to the next byte that is not white space, and returns it.
func (s *scanner) next() byte {
	for {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
}

// string reads the string at the current position.
func (s *scanner) string() string {
	begin := s.at
	escaped := s.skipString()
	if !escaped {
		return s.text[begin+1 : s.at-1]
	}
	var out string
	_ = json.Unmarshal([]byte(s.text[begin:s.at]), &out) // it is valid
	return out
}

// skipString skips the string at the current position, and reports whether it has
// escapes.
func (s *scanner) skipString() (escaped bool) {
	for s.at++; ; s.at++ {
		i := strings.IndexAny(s.text[s.at:], `"\`)
		s.at += i
		if s.text[s.at] == '"' {
			s.at++
			return escaped
		}
		escaped = true
		s.at++
	}
}

// skip skips the value at the current position.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.next() {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
		default: // a number or a word
			for !strings.ContainsRune(" \t\r\n,:]}", rune(s.text[s.at])) {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}
