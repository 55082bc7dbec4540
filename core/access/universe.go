package access

import (
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex/language"
)

// The texts that a part of a request can have, as bytes. Those of expressions are
// conditions of a search for a text. What a proxy sees of a path is in normal form (SPEC
// 11.2), and a header's value has no blanks at its ends and no control characters. An
// authority has only the bytes that Envoy takes in one; it refuses requests with others.
const (
	pathTexts      = `(?:/[!$-.0-;=@-Z\[\]_a-z~]+)+/?|/`
	dotSegment     = `(?:.*/)?\.\.?(?:[;/].*)?`
	resolvedEscape = `.*%(?:00|2[dDeEfF]|3[0-9]|4[1-9a-fA-F]|5[0-9aAcCfF]|6[1-9a-fA-F]|7[0-9aAeE]).*`
	headerTexts    = `(?:(?:` + visible + `)(?:(?:` + visible + `|[\t ])*(?:` + visible + `))?)?`
	visible        = `[!-~]|[\x{c2}-\x{df}][\x{80}-\x{bf}]|[\x{e1}-\x{ec}\x{ee}\x{ef}][\x{80}-\x{bf}]{2}`
	authorityTexts = `[!$-.0-;=@-Z\[\]_a-z~]+`
)

// universes holds the languages that searches of one problem have used.
type universes map[string]language.Language

func (u universes) of(expression string) language.Language {
	l := u[expression]
	if l == nil {
		l = language.Values(expression)
		u[expression] = l
	}
	return l
}

// texts returns the languages of the texts that a variable compared with expressions can
// have, and of those that it cannot.
func (u universes) texts(v variable) (in, out []language.Language) {
	switch {
	case v.part == path:
		return []language.Language{u.of(pathTexts)}, []language.Language{u.of(dotSegment), u.of(resolvedEscape)}
	case v == variable{header, "host"}:
		return []language.Language{u.of(authorityTexts)}, nil
	}
	return []language.Language{u.of(headerTexts)}, nil
}

// another returns a text that begins with a prefix and meets no condition with one of the
// values beyond those that the prefix meets: no value contains how it goes on.
func another(prefix string, values []string) string {
	word := "other"
	for n := 1; anyContains(values, word); n++ {
		word = "other" + strconv.Itoa(n)
	}
	return prefix + word
}

func anyContains(values []string, word string) bool {
	for _, value := range values {
		if strings.Contains(value, word) {
			return true
		}
	}
	return false
}
