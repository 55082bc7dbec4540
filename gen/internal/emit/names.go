package emit

import (
	"strconv"
	"strings"
)

// names assigns package-level names that the package does not use. Names are
// requested in a fixed order, so that the same package gets the same names.
type names struct {
	taken map[string]bool
	given map[string]string
}

func newNames(taken ...map[string]bool) *names {
	n := &names{taken: make(map[string]bool), given: make(map[string]string)}
	for _, some := range taken {
		for name := range some {
			n.taken[name] = true
		}
	}
	return n
}

// nameFor returns the name of the declaration with a key: the wanted name, followed by a
// number if it is taken. fresh reports whether the declaration had no name before.
func (n *names) nameFor(key, wanted string) (name string, fresh bool) {
	if name, ok := n.given[key]; ok {
		return name, false
	}
	name = wanted
	for i := 2; n.taken[name]; i++ {
		name = wanted + strconv.Itoa(i)
	}
	n.taken[name] = true
	n.given[key] = name
	return name, true
}

// lower returns an unexported form of an identifier: httpRoute, but tls for
// TLS and urlRewrite for URLRewrite.
func lower(ident string) string {
	i := 0
	for i < len(ident) && 'A' <= ident[i] && ident[i] <= 'Z' {
		i++
	}
	if i > 1 && i < len(ident) {
		i-- // the last capital letter begins the next word
	}
	return strings.ToLower(ident[:i]) + ident[i:]
}
