package core_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is the longest sentence of core/STYLE.md.
const maxWords = 26

// Limits of the number of longer sentences, in comments of the product and on pages. They may
// fall: when they were made, 184 and 155 were found.
const (
	maxLongComments = 200
	maxLongPages    = 170
)

// TestSentences counts sentences of more than maxWords words, and prints them with -v. A list
// item, a row of a table and a heading is a text of its own. Code has no sentences.
func TestSentences(t *testing.T) {
	var comments, pages []string
	for name, text := range sources(t, ".go", ".md") {
		switch {
		case strings.Contains(name, "/testdata/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated"):
		case path.Ext(name) == ".md":
			pages = append(pages, longSentences(name, text)...)
		default:
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				comments = append(comments, longSentences(name, group.Text())...)
			}
		}
	}
	for _, c := range []struct {
		of    string
		found []string
		limit int
	}{{"comments", comments, maxLongComments}, {"pages", pages, maxLongPages}} {
		slices.Sort(c.found)
		if testing.Verbose() {
			t.Log(strings.Join(c.found, "\n"))
		}
		if len(c.found) > c.limit {
			t.Errorf("%d sentences of %s have more than %d words, the limit is %d: divide a new one (go test ./core -run TestSentences -v lists them)", len(c.found), c.of, maxWords, c.limit)
		}
	}
}

var (
	newText     = regexp.MustCompile(`^\s*([-*#|>]|\d+\.\s)`)
	endOfPhrase = regexp.MustCompile(`[.?!:;]["')*]*\s+`)
	inCode      = regexp.MustCompile("`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)")
)

// longSentences returns the sentences of a text with too many words.
func longSentences(name, text string) (long []string) {
	var paragraph []string
	flush := func() {
		for _, sentence := range endOfPhrase.Split(inCode.ReplaceAllString(strings.Join(paragraph, " "), "CODE"), -1) {
			if n := len(strings.Fields(sentence)); n > maxWords {
				long = append(long, fmt.Sprintf("%s: %d words: %s", name, n, sentence))
			}
		}
		paragraph = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			flush()
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    "): // code
			flush()
		case strings.TrimSpace(line) == "":
			flush()
		case newText.MatchString(line):
			flush()
			if !strings.HasPrefix(strings.TrimSpace(line), "|") { // no row of a table
				paragraph = append(paragraph, strings.TrimSpace(line))
			}
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return long
}

// The counter finds what it should.
func TestLongSentences(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"at the limit":     {words(maxWords) + ".", 0},
		"above the limit":  {words(maxWords+1) + ".", 1},
		"over lines":       {words(20) + "\n" + words(20) + ".", 1},
		"two sentences":    {words(20) + ". " + words(20) + ".", 0},
		"two paragraphs":   {words(20) + "\n\n" + words(20), 0},
		"list items":       {"- " + words(20) + "\n- " + words(20), 0},
		"an item":          {"1. " + words(20) + "\n   " + words(20), 1},
		"a fenced block":   {"```\n" + words(40) + "\n```\n" + words(5), 0},
		"an indented code": {"\t" + words(40), 0},
		"a table":          {"| " + words(40) + " |", 0},
		"code in a text":   {words(20) + " `" + words(20) + "` " + words(3), 0},
	} {
		if got := longSentences("page", c.text); len(got) != c.want {
			t.Errorf("%s: %d long sentences, want %d", name, len(got), c.want)
		}
	}
}
