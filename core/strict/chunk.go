package strict

import (
	"bytes"
	"iter"
)

// Chunk is a run of whole documents of one file, to be parsed by itself.
type Chunk struct {
	data      []byte
	firstLine int // lines before the chunk
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Chunks cuts a file between documents into at most n pieces of similar size
// that can be parsed in parallel. There is at least one.
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
		} else { // the piece stands right behind the latest chunk
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
// and the one that ends it. YAML forbids markers at the start of a line inside
// of any scalar, so a cut never falls into a document; a malformed document
// ends where the next marker stands.
func (c Chunk) documents() iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		begin, beginLine := 0, c.firstLine
		line := c.firstLine
		header := true      // nothing but directives and comments since begin
		directives := false // they belong to the marker that follows
		ended := false      // by a marker, which may stand there again
		cut := func(end, endLine int) bool {
			piece := Chunk{data: c.data[begin:end], firstLine: beginLine}
			begin, beginLine = end, endLine
			return yield(piece)
		}
		for at := 0; at < len(c.data); line++ {
			end := len(c.data)
			if i := bytes.IndexByte(c.data[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			text := c.data[at:end]
			if ended && !isMarker(text, "...") {
				if !cut(at, line) {
					return
				}
				header, directives, ended = true, false, false
			}
			switch {
			case isMarker(text, "---"):
				if !directives && at > begin && !cut(at, line) {
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
			at = end
		}
		if begin < len(c.data) {
			cut(len(c.data), line)
		}
	}
}

func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// isBlank reports whether there is nothing but markers and comments.
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
