package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
)

// requestOptions returns a request as options of `access`, quoted for a shell.
func requestOptions(w *inspect.Witness) string {
	var parts []string
	add := func(option, value string) {
		if value != "" {
			parts = append(parts, "--"+option, shellQuoted(value))
		}
	}
	add("spiffe-id", w.SpiffeID)
	for _, t := range w.Tags {
		add("tag", t.Key+"="+t.Value)
	}
	add("sni", w.SNI)
	add("method", w.Method)
	add("path", w.Path)
	for _, name := range slices.Sorted(maps.Keys(w.Headers)) {
		add("header", name+"="+w.Headers[name])
	}
	if len(parts) == 0 {
		return noOptions
	}
	return strings.Join(parts, " ")
}

// noOptions describes a request that needs no options.
const noOptions = "a client without a certificate"

// shellQuoted returns a word as a POSIX shell reads it.
func shellQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
