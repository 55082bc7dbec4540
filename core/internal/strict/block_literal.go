package strict

import "bytes"

// Literal texts, such as the annotation with which kubectl keeps what was applied, patches of
// Envoy resources, and certificates:
//
//	key: |
//	  the first line determines the indentation
//
//	  the last line break is a part of the text
//	other: |-
//	  the last line break is not a part of this text

// literal reads a text whose header is at an offset of the line. Indent is the indentation of
// the mapping.
func (r *blockReader) literal(header, indent int) bool {
	withoutBreak := bytes.Equal(r.data[header:r.end], []byte("|-"))
	if !withoutBreak && r.end > header+1 {
		return false
	}
	inner, end := -1, 0
	for r.nextLine < len(r.data) {
		length := bytes.IndexByte(r.data[r.nextLine:], '\n')
		if length < 0 {
			return false
		}
		line := r.data[r.nextLine : r.nextLine+length]
		spaces := length - len(bytes.TrimLeft(line, " "))
		if inner < 0 {
			inner = spaces
			if spaces == length || spaces <= indent {
				return false
			}
		}
		switch {
		case spaces < inner && spaces < length:
			return r.addLiteral(header, end, withoutBreak)
		case spaces == length && spaces > inner, !all(line, printable):
			return false
		case spaces < length:
			end = r.nextLine + length
		}
		r.nextLine += length + 1
	}
	return end > 0 && r.addLiteral(header, end, withoutBreak)
}

// addLiteral adds a literal text. The end is where its last line ends.
func (r *blockReader) addLiteral(header, end int, withoutBreak bool) bool {
	r.end = end
	if !withoutBreak {
		end++
	}
	r.add(part{begin: int32(header), end: int32(end), kind: String, literal: true})
	return true
}

// literalText returns the text of a literal part: its lines without their indentation.
func (t *flatText) literalText(p *part) []byte {
	lines := t.data[p.begin:p.end]
	lines = lines[bytes.IndexByte(lines, '\n')+1:] // without the header
	indent := len(lines) - len(bytes.TrimLeft(lines, " "))
	if i := bytes.IndexByte(lines, '\n'); i < 0 || i == len(lines)-1 {
		return lines[indent:]
	}
	var text []byte
	for line := range bytes.Lines(lines) {
		if len(line) <= indent { // no content
			line = line[len(line)-1:]
		} else {
			line = line[indent:]
		}
		text = append(text, line...)
	}
	return text
}
