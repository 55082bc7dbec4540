package strict

import (
	"bytes"
	"iter"
)

// Chunk is a piece of a file with consecutive documents. It can be parsed
// independently of the other pieces.
type Chunk struct {
	data      []byte
	firstLine int  // lines before the chunk
	afterJSON bool // the chunk follows a JSON document without a marker
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Chunks splits a file between documents into at most n pieces of similar size
// that can be parsed in parallel. There is at least one piece.
func Chunks(data []byte, n int) []Chunk {
	whole := Chunk{data: bytes.TrimPrefix(data, byteOrderMark)}
	if n <= 1 {
		return []Chunk{whole}
	}
	var chunks []Chunk
	begin, bucket := 0, -1
	for piece := range whole.documents() {
		if into := begin * n / len(whole.data); into > bucket {
			chunks, bucket = append(chunks, piece), into
		} else { // the piece follows the latest chunk
			latest := &chunks[len(chunks)-1].data
			*latest = (*latest)[:len(*latest)+len(piece.data)]
		}
		begin += len(piece.data)
	}
	if len(chunks) == 0 {
		return []Chunk{whole}
	}
	return chunks
}

// documents yields the documents of the chunk, each with the marker before it
// and the marker that ends it.
//
// YAML forbids markers at the beginning of a line inside any scalar, so a cut
// is never inside a document; a malformed document ends at the next marker. A
// text that begins as JSON is also cut before a line that begins with {, if the
// previous line ends with }: inside a JSON document there would be a comma
// between them.
func (c Chunk) documents() iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		begin, beginLine := 0, c.firstLine
		line := c.firstLine
		hasCR := bytes.IndexByte(c.data, '\r') >= 0
		header := true      // there are only directives and comments since begin
		directives := false // there are directives, which belong to the next marker
		ended := false      // a marker ended the document; another marker may follow
		isJSON := looksLikeJSON(c.data)
		last := byte(0) // the last byte of the previous lines that is not white space
		afterJSON := c.afterJSON
		cut := func(end, endLine int, json bool) bool {
			piece := Chunk{data: c.data[begin:end], firstLine: beginLine, afterJSON: afterJSON}
			begin, beginLine, afterJSON = end, endLine, json
			isJSON, last = looksLikeJSON(c.data[end:]), 0
			return yield(piece)
		}
		for at := 0; at < len(c.data); {
			end := len(c.data)
			if i := bytes.IndexByte(c.data[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			text := c.data[at:end]
			nextJSON := isJSON && last == '}' && begins(text, '{')
			if ended && !isMarker(text, "...") || nextJSON {
				if !cut(at, line, nextJSON && !ended) {
					return
				}
				header, directives, ended = true, false, false
			}
			switch {
			case isMarker(text, "---"):
				if !directives && at > begin && !cut(at, line, false) {
					return
				}
				header, directives = false, false
			case isMarker(text, "..."):
				ended = true
			case header && text[0] == '%':
				directives = true
			case header && text[0] != '#' && len(bytes.TrimSpace(text)) > 0:
				header = false
			}
			if isJSON {
				if text = bytes.TrimRight(text, " \t\r\n"); len(text) > 0 {
					last = text[len(text)-1]
				}
			}
			line++
			if hasCR {
				n, _ := breaks(c.data, at, end)
				line += n - 1
			}
			at = end
			if !header && !ended && !isJSON && !hasCR { // only a marker changes this
				next, lines := toMarker(c.data, at)
				line, at = line+lines, next
			}
		}
		if begin < len(c.data) {
			cut(len(c.data), line, false)
		}
	}
}

// toMarker returns the offset of the next line that may be a marker, and the number of lines
// before it. It starts at the beginning of a line.
func toMarker(data []byte, at int) (next, lines int) {
	for at < len(data) && data[at] != '-' && data[at] != '.' {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data), lines
		}
		at += i + 1
		lines++
	}
	return at, lines
}

// begins reports whether first is the first byte of a line, apart from white
// space.
func begins(line []byte, first byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && line[0] == first
}

func isMarker(line []byte, marker string) bool {
	if len(line) < len(marker) || line[0] != marker[0] || string(line[:len(marker)]) != marker {
		return false
	}
	rest := line[len(marker):]
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0
}

// isBlank reports whether the chunk has only markers and comments.
func (c Chunk) isBlank() bool {
	for line := range bytes.Lines(c.data) {
		if isMarker(line, "---") || isMarker(line, "...") {
			line = line[3:]
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return false
		}
	}
	return true
}
