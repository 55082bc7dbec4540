package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// parser reads records of JSON. The zero parser is ready to use, by one goroutine.
type parser struct {
	decoder jsontext.Decoder
	line    bytes.Buffer // which the decoder reads without a copy
}

// parse reads the fields of a line into values, one for each field. text must equal line.
// The error is the reason why the line is not a record.
func (p *parser) parse(f *Fields, line []byte, text string, values []value) error {
	if !utf8.Valid(line) {
		return errNoUTF8
	}
	clear(values)
	p.line = *bytes.NewBuffer(line)
	// A lone surrogate that is escaped is no reason to reject a record.
	p.decoder.Reset(&p.line, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var wrong, err error // of a record, and of JSON
	if p.decoder.PeekKind() == '{' {
		wrong, err = p.object(f, text, values)
	} else {
		wrong, err = errNoObject, p.decoder.SkipValue()
	}
	if err == nil {
		_, err = p.decoder.ReadToken() // there is no other
	}
	if err != io.EOF {
		return errNoJSON
	}
	return wrong
}

// object reads the fields of an object.
func (p *parser) object(f *Fields, text string, values []value) (wrong, err error) {
	d := &p.decoder
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		key := p.unquoted(name, text)
		i, wanted := f.keys[key]
		raw, err := d.ReadValue()
		switch {
		case err != nil:
			return nil, err
		case !wanted:
		case values[i].is != missing:
			wrong = cmp.Or(wrong, fmt.Errorf("the field %q is repeated", key))
		case raw.Kind() == '"':
			values[i].is, values[i].text = given, p.unquoted(raw, text)
		case raw.Kind() == 'n':
			values[i].is = absent
		case i != startTime: // a number is no time, and spoils no decision
			wrong = cmp.Or(wrong, fmt.Errorf("the field %q is neither a string nor null", key))
		}
	}
	_, err = d.ReadToken()
	return wrong, err
}

// unquoted returns the text of the string that was read last: a part of the line, unless it has
// escapes.
func (p *parser) unquoted(quoted jsontext.Value, text string) string {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		out, _ := jsontext.AppendUnquote(nil, quoted) // it is valid
		return string(out)
	}
	end := int(p.decoder.InputOffset()) - 1
	return text[end-len(quoted)+2 : end]
}
