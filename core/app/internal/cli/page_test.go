package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage(t *testing.T) {
	long := strings.Repeat("x", widestCell+1)
	words := strings.TrimSpace(strings.Repeat("word, ", 15))
	for name, test := range map[string]struct {
		wide bool
		fill func(p *page)
		want string
	}{
		"columns are aligned": {
			fill: func(p *page) {
				p.row("a", "bb", "c")
				p.row("aaa", "ä", "c")
			},
			want: "a    bb  c\naaa  ä   c\n",
		},
		"an empty cell leaves its column free, and no blanks at the end": {
			fill: func(p *page) {
				p.row("a", "b", "c")
				p.row("a", "", "c")
				p.row("a", "b", "")
			},
			want: "a  b  c\na     c\na  b\n",
		},
		"after a cell that is too wide the row continues on the next line": {
			fill: func(p *page) {
				p.row("a", "b", "c")
				p.row("a", long, "c")
			},
			want: "a  b  c\na  " + long + "\n      c\n",
		},
		"lists are wrapped in their column": {
			fill: func(p *page) { p.row("a", words) },
			want: "a  " + strings.Repeat("word, ", 12) + "word,\n   word, word,\n",
		},
		"headings are wrapped": {
			fill: func(p *page) { p.heading(1, "%s", words) },
			want: "  word, word, word, word, word, word, word, word, word, word, word, word,\n      word, word, word,\n",
		},
		"wide pages are not wrapped": {
			wide: true,
			fill: func(p *page) {
				p.row("a", words)
				p.heading(1, "%s", words)
			},
			want: "a  " + words + "\n  " + words + "\n",
		},
		"a heading ends a table, and a blank line is between sections": {
			fill: func(p *page) {
				p.row("aaa", "b")
				p.heading(0, "one")
				p.row("a", "b")
				p.heading(1, "two")
				p.line("text")
				p.heading(0, "three")
			},
			want: "aaa  b\n\none\n  a  b\n  two\n    text\n\nthree\n",
		},
		"control characters are escaped": {
			fill: func(p *page) {
				p.heading(0, "\x1b[31m%s", "\x9b")
				p.line("a\nb")
				p.row("\u202e", "\x00")
			},
			want: "\\x1b[31m\\x9b\n  a\\nb\n  \\u202e  \\x00\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			p := newPage(&b)
			p.wide = test.wide
			test.fill(p)
			if err := p.flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Colour codes surround the text and do not count as columns.
func TestPageWithColours(t *testing.T) {
	var b bytes.Buffer
	p := newPage(&b)
	p.colour = true
	p.heading(0, "one")
	p.row("a", "b", "c")
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	want := bold + "one" + reset + "\n  a  b  " + faint + "c" + reset + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
