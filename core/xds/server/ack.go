package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// maxWords limits how much of a client's error text is read and kept.
const maxWords = 4096

// A nack is the answer of a client to a response that it did not accept.
type nack struct {
	message   string
	resources []string // sorted
	at        int64    // Unix time in nanoseconds
}

// A rejection is a resource that the client did not accept. It is not sent again with the
// same content unless the client asks for it, because held contains it.
type rejection struct{ name, version string }

// answer handles the nonce of a request if it belongs to the response in flight.
func (s *stream) answer(w *watch, text string, detail *rpcstatus.Status) {
	if b := w.flight.before; b != nil && detail != nil {
		if n := newNonce(s.id, b.nonce); text == string(n[:]) {
			s.reject(w, b.message, detail.GetMessage())
			w.flight.before = nil
			return
		}
	}
	n := newNonce(s.id, w.nonce)
	if w.flight.message == nil || text != string(n[:]) {
		return
	}
	m := w.flight.message
	w.rejected = slices.DeleteFunc(w.rejected, func(r rejection) bool { return m.mentions(r.name) })
	if detail != nil {
		s.reject(w, m, detail.GetMessage())
	}
	if w.silent != 0 {
		s.quiet.Store(0) // settle stores it if another type is silent
	}
	w.finish()
	if has, _ := s.lacking(); has == w {
		w.heard = s.server.now()
	}
	w.prune()
	if detail == nil && len(w.rejected) == 0 {
		w.nack = nil
	}
}

// reject records a NACK. Clients apply the valid resources of a response and name the
// others in their message. If it names none, all of them count as rejected.
func (s *stream) reject(w *watch, m *message, words string) {
	if len(words) > maxWords {
		words = words[:maxWords]
	}
	var named, all []rejection
	visit := func(r *wire.Resource) {
		all = append(all, rejection{r.Name, r.Version})
		if namesResource(words, r.Name) {
			named = append(named, rejection{r.Name, r.Version})
		}
	}
	for _, r := range m.resources {
		visit(r)
	}
	for _, v := range m.variants {
		visit(v.Resource)
	}
	if len(named) == 0 {
		named = all
	}
	w.rejected = append(w.rejected, named...)
	names := make([]string, len(w.rejected))
	for i, r := range w.rejected {
		names[i] = r.name
	}
	w.nack = &nack{message: words, resources: union(nil, names), at: time.Now().UnixNano()}
	s.server.counters.NACKs[w.t].Add(1)
	s.server.log.Warn("a client rejects resources", "node", clip(s.node.ID, maxLoggedID), "peer", s.client.Address,
		"type", w.t.String(), "message", clip(words, maxLogged-maxLoggedID), "resources", someNames(w.nack.resources))
}

// maxNamed limits the resource names in one line of the log.
const maxNamed = 10

// someNames returns the first few names, and how many more there are.
func someNames(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), fmt.Sprintf("and %d more", len(names)-maxNamed))
}

// prune drops the rejections of content that the client should no longer hold.
func (w *watch) prune() {
	w.rejected = slices.DeleteFunc(w.rejected, func(r rejection) bool { return !w.isWanted(r) })
}

// isWanted reports whether the client should hold content that it rejected.
func (w *watch) isWanted(r rejection) bool {
	if w.kept.has(r.name) {
		return false // it only drains
	}
	if want := find(w.want, r.name); want != nil && want.Version == r.version {
		return true
	}
	return slices.ContainsFunc(w.wantVariants, func(v wire.Variant) bool {
		return v.Resource.Name == r.name && v.Resource.Version == r.version
	})
}

// mentions reports whether the message sends or removes a name.
func (m *message) mentions(name string) bool {
	return find(m.resources, name) != nil || hasVariantOf(m.variants, name) || isMissing(m, name)
}

// namesResource reports whether a text contains a name that is not part of a longer name.
func namesResource(text, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(name)
		if (at == 0 || !isNameByte(text[at-1])) && (end == len(text) || !continuesName(text[end:])) {
			return true
		}
		from = at + 1
	}
}

// isNameByte reports whether a byte may be in a resource name (SPEC 11.4).
func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-_./?=&", b) >= 0
}

// continuesName reports whether the text after a name is more of a name. A full stop
// or a colon ends it if a space or nothing follows.
func continuesName(text string) bool {
	if text[0] == '.' || text[0] == ':' {
		return len(text) > 1 && isNameByte(text[1])
	}
	return isNameByte(text[0])
}
