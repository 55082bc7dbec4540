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

// maxWords is the longest sentence of core/STYLE.md, and maxRelatives the most words in a
// sentence that may begin a relative clause.
const (
	maxWords     = 26
	maxRelatives = 3
)

// Limits of the number of sentences with more words or relatives, in comments of the product and
// on pages. They only fall: after a sentence is divided, the limit is what is found.
const (
	maxLongComments   = 0
	maxNestedComments = 0
	maxLongPages      = 28
	maxNestedPages    = 0
)

// TestSentences counts sentences of more than maxWords words or maxRelatives relatives, and prints
// them with -v. A list item, a row of a table and a heading is a text of its own. Code has no
// sentences.
func TestSentences(t *testing.T) {
	var comments, pages faults
	for name, text := range sources(t, ".go", ".md") {
		switch {
		case strings.Contains(name, "/testdata/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated"):
		case path.Ext(name) == ".md":
			pages.add(name, text)
		default:
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				comments.add(name, group.Text())
			}
		}
	}
	for _, c := range []struct {
		of    string
		found []string
		limit int
	}{
		{fmt.Sprintf("comments have more than %d words", maxWords), comments.long, maxLongComments},
		{fmt.Sprintf("comments have more than %d relatives", maxRelatives), comments.nested, maxNestedComments},
		{fmt.Sprintf("pages have more than %d words", maxWords), pages.long, maxLongPages},
		{fmt.Sprintf("pages have more than %d relatives", maxRelatives), pages.nested, maxNestedPages},
	} {
		slices.Sort(c.found)
		if testing.Verbose() {
			t.Log(strings.Join(c.found, "\n"))
		}
		if len(c.found) > c.limit {
			t.Errorf("%d sentences of %s, the limit is %d: divide a new one (go test ./core -run TestSentences -v lists them)", len(c.found), c.of, c.limit)
		}
	}
}

var (
	newText     = regexp.MustCompile(`^\s*([-*#|>]|\d+\.\s)`)
	endOfPhrase = regexp.MustCompile(`[.?!:;]["')*]*\s+`)
	relative    = regexp.MustCompile(`(?i)\b(that|which|who|whose|whom|what|where)\b`)
	inCode      = regexp.MustCompile("`[^`]*`|\\[[^\\]]*\\]\\([^)]*\\)")
)

// faults are sentences with too many words, and with too many relatives.
type faults struct{ long, nested []string }

// add adds the faults of a text.
func (f *faults) add(name, text string) {
	var paragraph []string
	flush := func() {
		for _, sentence := range endOfPhrase.Split(inCode.ReplaceAllString(strings.Join(paragraph, " "), "CODE"), -1) {
			if n := len(strings.Fields(sentence)); n > maxWords {
				f.long = append(f.long, fmt.Sprintf("%s: %d words: %s", name, n, sentence))
			}
			if n := len(relative.FindAllString(sentence, -1)); n > maxRelatives {
				f.nested = append(f.nested, fmt.Sprintf("%s: %d relatives: %s", name, n, sentence))
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
}

// The counter finds what it should.
func TestFaults(t *testing.T) {
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for name, c := range map[string]struct {
		text         string
		long, nested int
	}{
		"at the limit":     {words(maxWords) + ".", 0, 0},
		"above the limit":  {words(maxWords+1) + ".", 1, 0},
		"over lines":       {words(20) + "\n" + words(20) + ".", 1, 0},
		"two sentences":    {words(20) + ". " + words(20) + ".", 0, 0},
		"two paragraphs":   {words(20) + "\n\n" + words(20), 0, 0},
		"list items":       {"- " + words(20) + "\n- " + words(20), 0, 0},
		"an item":          {"1. " + words(20) + "\n   " + words(20), 1, 0},
		"a fenced block":   {"```\n" + words(40) + "\n```\n" + words(5), 0, 0},
		"an indented code": {"\t" + words(40), 0, 0},
		"a table":          {"| " + words(40) + " |", 0, 0},
		"code in a text":   {words(20) + " `" + words(20) + "` " + words(3), 0, 0},
		"three relatives":  {"A page that shows what it has, which is all.", 0, 0},
		"four relatives":   {"That which a page that is open shows is what it has.", 0, 1},
		"of two sentences": {"A page that shows what it has. A page that shows what it has.", 0, 0},
	} {
		var found faults
		if found.add("page", c.text); len(found.long) != c.long || len(found.nested) != c.nested {
			t.Errorf("%s: %d long sentences and %d nested ones, want %d and %d", name, len(found.long), len(found.nested), c.long, c.nested)
		}
	}
}
