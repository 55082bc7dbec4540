package strict

import "bytes"

// blockReader finds the parts of a YAML document in the form in which programs and people
// write most of them:
//
//	# a comment in its own line
//	key: plain text # or at the end of a line
//	list:
//	- name: "text in quotes, with the escapes of JSON"
//	  target: {kind: Mesh, proxyTypes: [Sidecar]}
//	text: |
//	  lines of text
//
// This form has mappings and lists in block style, one line for each field and each
// element. Within them others may be in flow style (block_flow.go), and texts may be
// literal (block_literal.go). It is the form of the output of kubectl, managedFields
// included. Its reader takes a tenth of the time of the library's parser, which takes four
// fifths of the time of decoding dataplanes. The library parses every other document, even
// one with a null or an error, so this reader needs no errors of its own. All its methods
// that return a bool return false for a document in another form.
type blockReader struct {
	data     []byte
	depth    int  // the maximum
	comments bool // there is a #
	parts    []part
	others   []int32 // parts that may mean something else in YAML 1.1
	// The current line. Lines without content are skipped.
	lineBegin int
	begin     int // of its content
	end       int
	indent    int // column of its content; -1: there is no current line
	nextLine  int // offset
	latestEnd int // of the content of the previous line
}

// block returns the document, or nil if it has another form.
func (s *source) block() *Document {
	limits, r := s.reader.limits(), &s.reader.block
	if len(s.piece.data) > maxFlat || !isPlain(s.piece.data) {
		return nil
	}
	room := min(len(s.piece.data)/10, maxRoom) // a line with a name and a value has some twenty bytes
	*r = blockReader{data: s.piece.data, depth: limits.Depth, parts: withRoom(r.parts, room), others: r.others[:0]}
	r.comments = bytes.IndexByte(r.data, '#') >= 0
	if marker := "---\n"; bytes.HasPrefix(r.data, []byte(marker)) {
		r.nextLine = len(marker)
	}
	if !r.next() || r.indent < 0 || !r.mapping(1) || r.indent >= 0 || len(r.parts) > limits.Nodes {
		return nil
	}
	doc := s.reader.document(s.sink)
	r.parts = doc.setText(s.file, r.data, s.lines(), r.parts)
	doc.others = append(doc.others, r.others...)
	return doc
}

// next moves to the next line with content.
func (r *blockReader) next() bool {
	r.latestEnd = r.end
	for r.nextLine < len(r.data) {
		r.lineBegin, r.end = r.nextLine, len(r.data)
		if i := bytes.IndexByte(r.data[r.lineBegin:], '\n'); i >= 0 {
			r.end = r.lineBegin + i
		}
		r.nextLine = r.end + 1
		r.begin = r.skipSpaces(r.lineBegin)
		if r.begin == r.end {
			continue
		}
		if r.comments && !r.cutComment() {
			return false
		}
		for r.end > r.begin && r.data[r.end-1] == ' ' {
			r.end--
		}
		if r.begin < r.end {
			r.indent = r.begin - r.lineBegin
			return true
		}
	}
	r.indent = -1
	return true
}

// cutComment moves the end of the line to before a comment. A # after a quote is left in the
// line: it may be within the quotes.
func (r *blockReader) cutComment() bool {
	content := r.data[r.begin:r.end]
	if i := bytes.IndexByte(content, '#'); i == 0 || i > 0 && content[i-1] == ' ' && !bytes.ContainsAny(content[:i], `"'`) {
		if !all(content[i:], printable) {
			return false
		}
		r.end = r.begin + i
	}
	return true
}

func (r *blockReader) skipSpaces(i int) int {
	line := r.data[:r.end]
	for i < len(line) && line[i] == ' ' {
		i++
	}
	return i
}

// mapping reads a mapping that begins with the content of the line.
func (r *blockReader) mapping(depth int) bool {
	indent, this := r.indent, r.open(Mapping)
	if depth >= r.depth {
		return false
	}
	for r.indent == indent {
		end, ok := r.keyEnd()
		if !ok {
			return false
		}
		r.addText(r.begin, end)
		switch value := r.skipSpaces(end + 1); {
		case value == r.end:
			ok = r.next() && r.below(indent, depth+1)
		case r.data[value] == '|':
			ok = r.literal(value, indent) && r.next()
		default:
			ok = r.value(value, depth+1) && r.next()
		}
		if !ok || r.indent > indent {
			return false
		}
	}
	r.close(this)
	return true
}

// below reads the value of a field from the lines below it. A list may have the
// indentation of the field.
func (r *blockReader) below(indent, depth int) bool {
	switch {
	case r.indent >= indent && r.atElement():
		return r.list(depth)
	case r.indent > indent:
		return r.mapping(depth)
	}
	return false
}

// list reads a list that begins with the content of the line.
func (r *blockReader) list(depth int) bool {
	indent, this := r.indent, r.open(List)
	if depth >= r.depth {
		return false
	}
	for r.indent == indent && r.atElement() {
		r.begin = r.skipSpaces(r.begin + 1)
		r.indent = r.begin - r.lineBegin
		ok := false
		if r.begin == r.end {
			return false
		} else if _, isKey := r.keyEnd(); isKey {
			ok = r.mapping(depth + 1)
		} else {
			ok = r.value(r.begin, depth+1) && r.next()
		}
		if !ok || r.indent > indent {
			return false
		}
	}
	r.close(this)
	r.parts[this].end = int32(r.latestEnd)
	return true
}

// atElement reports whether the line is an element of a list.
func (r *blockReader) atElement() bool {
	return r.data[r.begin] == '-' && (r.begin+1 == r.end || r.data[r.begin+1] == ' ')
}

// maxKey is the maximum length of a name; YAML does not allow names of more than
// 1,024 characters.
const maxKey = 1000

// keyEnd returns the end of the name at the beginning of the line's content. A colon without
// a space after it is a part of the name.
func (r *blockReader) keyEnd() (end int, ok bool) {
	line := r.data[:r.end]
	for end = r.begin; end < len(line); end++ {
		c := line[end]
		if c == ':' && (end+1 == len(line) || line[end+1] == ' ') {
			return end, end > r.begin && end-r.begin <= maxKey && classes[line[r.begin]]&beginsText != 0
		}
		if classes[c]&inKey == 0 {
			break
		}
	}
	return 0, false
}

// value reads a value from an offset to the end of the line.
func (r *blockReader) value(begin, depth int) bool {
	switch r.data[begin] {
	case '"', '\'':
		return r.quoted(begin) == r.end
	case '{', '[':
		return r.flow(begin, depth) == r.end
	}
	line := r.data[:r.end]
	for i := begin; i < len(line); i++ {
		if c := line[i]; classes[c]&inText == 0 || c == ':' && (i+1 == len(line) || line[i+1] == ' ') {
			return false
		}
	}
	if !r.beginsPlain(begin) {
		return false
	}
	r.addScalar(begin, r.end)
	return true
}

// beginsPlain reports whether a text without quotes begins at an offset.
func (r *blockReader) beginsPlain(at int) bool {
	if r.data[at] == '-' {
		at++
	}
	return at < r.end && classes[r.data[at]]&beginsText != 0
}

// quoted reads a text in quotes and returns its end or -1. In double quotes, it reads only the
// escapes of JSON.
func (r *blockReader) quoted(begin int) int {
	quote, escaped := r.data[begin], false
	end := begin + 1
	for {
		switch {
		case end == r.end || classes[r.data[end]]&printable == 0:
			return -1
		case r.data[end] == quote:
			r.add(part{begin: int32(begin + 1), end: int32(end), kind: String, quoted: true, escaped: escaped})
			return end + 1
		case r.data[end] == '\\' && quote == '"':
			if end = escape(r.data[:r.end], end+1); end < 0 || r.data[end-1] == '/' {
				return -1 // the library does not read \/
			}
			escaped = true
		default:
			end++
		}
	}
}

// open adds a mapping or list that begins with the content of the line.
func (r *blockReader) open(kind Kind) (index int) {
	r.add(part{begin: int32(r.begin), end: int32(r.begin), kind: kind})
	return len(r.parts) - 1
}

func (r *blockReader) close(index int) { r.parts[index].parts = int32(len(r.parts) - index) }

// addScalar adds a value without quotes.
func (r *blockReader) addScalar(begin, end int) {
	if mayDiffer(r.data[begin:end]) {
		r.others = append(r.others, int32(len(r.parts)))
	}
	r.addText(begin, end)
}

// addText adds a text without quotes.
func (r *blockReader) addText(begin, end int) {
	r.add(part{begin: int32(begin), end: int32(end), kind: plainKind(r.data[begin:end])})
}

func (r *blockReader) add(p part) {
	p.parts = 1
	r.parts = append(r.parts, p)
}
