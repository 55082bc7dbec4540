package diag

import (
	"regexp"
	"slices"
	"strings"
)

// quoted is a text of a document in a message.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|` + "`[^`]*`?")

// Hide removes the quoted texts, except the given words, from the diagnostics since the
// [Sink.Counts] that are selected: their values are keys or certificates.
func (s *Sink) Hide(since [3]int, words []string, selects func(*Diagnostic) bool) {
	s.each(since, func(d *Diagnostic) {
		if selects(d) {
			d.What, d.Hint = hidden(d.What, words), hidden(d.Hint, words)
		}
	})
}

// hidden returns a message without the quoted texts that are not one of the words.
func hidden(message string, words []string) string {
	return quoted.ReplaceAllStringFunc(message, func(text string) string {
		if slices.Contains(words, strings.Trim(text, `"`)) {
			return text
		}
		return "..."
	})
}
