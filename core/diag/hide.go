package diag

import "regexp"

// quoted is a text of a document in a message.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|` + "`[^`]*`?")

// word is a word of a schema, such as the type of a certificate.
var word = regexp.MustCompile(`^"[A-Za-z]{1,16}"$`)

// Hide removes the quoted texts of the document from the diagnostics since the [Sink.Counts]
// for which is returns true: their values are keys or certificates. Hints have none.
func (s *Sink) Hide(since [3]int, is func(*Diagnostic) bool) {
	for _, new := range [][]Diagnostic{s.errors[min(since[0], len(s.errors)):], s.warnings[min(since[1], len(s.warnings)):]} {
		for i := range new {
			new[i].hide(is)
		}
	}
	for i := min(since[2], len(s.depending)); i < len(s.depending); i++ {
		s.depending[i].hide(is)
	}
}

func (d *Diagnostic) hide(is func(*Diagnostic) bool) {
	if is(d) {
		d.What = quoted.ReplaceAllStringFunc(d.What, func(text string) string {
			if word.MatchString(text) {
				return text
			}
			return "..."
		})
	}
}
