package core_test

import (
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unfit are words that comments, messages and pages do not contain: data are not
// persons, and one spelling is enough. `behind-ms` is another word than its parts.
var unfit = regexp.MustCompile(`(?i)(?:^|[^-\pL])(nobody|somebody|everybody|no one|someone|everyone|anyone|whom|tells?|told|says?|said|stands?|stood|knows|knew|beside|behind|any more|can not)(?:$|[^-\pL])`)

// TestPlainLanguage looks for such words in the comments and texts of Go files, and in
// pages. A text with a single word may be a name.
func TestPlainLanguage(t *testing.T) {
	read := 0
	check := func(path string, line int, text string) {
		read++
		for i, part := range strings.Split(text, "\n") {
			if found := unfit.FindStringSubmatch(part); found != nil {
				t.Errorf("%s:%d: %q in %s", path, line+i, found[1], strings.TrimSpace(part))
			}
		}
	}
	for path, text := range sources(t, ".go", ".md") {
		if filepath.Ext(path) == ".md" {
			check(path, 1, text)
			continue
		}
		if filepath.Base(path) == "language_test.go" {
			continue
		}
		files := token.NewFileSet()
		file := files.AddFile(path, -1, len(text))
		var s scanner.Scanner
		s.Init(file, []byte(text), nil, scanner.ScanComments)
		for {
			pos, kind, literal := s.Scan()
			if kind == token.EOF {
				break
			}
			if kind == token.COMMENT || kind == token.STRING && strings.Contains(literal, " ") {
				check(path, file.Line(pos), literal)
			}
		}
	}
	if read < 10_000 {
		t.Errorf("read %d texts, want 10,000 or more: is the search for them broken?", read)
	}
}
