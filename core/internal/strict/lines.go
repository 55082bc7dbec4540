package strict

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// lines finds the lines and columns of offsets in a text. It scans the text
// only once, for any number of offsets, plus at most markEvery bytes for each
// offset. It is safe for concurrent use.
type lines struct {
	first int // the line in which the text begins, from 1

	mu    sync.Mutex
	marks []mark // after every markEvery bytes
}

// mark is the line and column of an offset. Columns count characters from 1.
type mark struct{ line, column int }

const markEvery = 4096

// locate returns the mark of an offset.
func (l *lines) locate(text []byte, offset int) mark {
	if offset < markEvery {
		return mark{l.first, 1}.after(text, 0, offset)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.marks == nil {
		l.marks = []mark{{l.first, 1}}
	}
	for len(l.marks) <= offset/markEvery {
		begin := (len(l.marks) - 1) * markEvery
		l.marks = append(l.marks, l.marks[len(l.marks)-1].after(text, begin, begin+markEvery))
	}
	i := offset / markEvery
	return l.marks[i].after(text, i*markEvery, offset)
}

// after returns the mark of the offset end in a text in which m is the mark of begin.
func (m mark) after(text []byte, begin, end int) mark {
	if n, last := breaks(text, begin, end); n > 0 {
		m = mark{m.line + n, 1}
		begin = last
	}
	m.column += characters(text[begin:end])
	return m
}

// breaks returns the number of line breaks between two offsets of a text, and the
// offset after the last of them. A line break is LF, CR LF or CR, as in YAML.
func breaks(text []byte, begin, end int) (n, last int) {
	last = begin
	if n = bytes.Count(text[begin:end], []byte("\n")); n > 0 { // finding the last one takes longer than counting
		last += bytes.LastIndexByte(text[begin:end], '\n') + 1
	}
	for at := begin; ; at++ {
		i := bytes.IndexByte(text[at:end], '\r')
		if i < 0 {
			return n, last
		}
		at += i
		if at+1 == len(text) || text[at+1] != '\n' {
			n, last = n+1, max(last, at+1)
		}
	}
}

// characters counts the characters that begin in a part of a UTF-8 text: the bytes that are
// not 10xxxxxx, eight at once.
func characters(text []byte) int {
	const ones = 0x01010101_01010101
	n := 0
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		n += 8 - bits.OnesCount64(w>>7&^(w>>6)&ones)
	}
	for _, b := range text {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}
