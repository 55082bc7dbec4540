package serve

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
)

// operators decides which clients may read the answers of HTTP (SPEC 12.1). A client with
// the token or, over TLS, with the identity of an operator reads all of them. A client with
// the identity of a dataplane reads the answers about that dataplane.
type operators struct {
	ids  []string
	path string                 // of the token; empty: there is none
	key  atomic.Pointer[[]byte] // the token

	guesses guesses
}

// minToken is the least length of a token in bytes.
const minToken = 16

// load reads the token again. If that fails, the previous one is kept.
func (o *operators) load() error {
	if o.path == "" {
		return nil
	}
	content, err := os.ReadFile(o.path)
	if err != nil {
		return fmt.Errorf("the token of operators: %w", err)
	}
	token := bytes.TrimSpace(content)
	if len(token) < minToken {
		return fmt.Errorf("%s: %w", o.path, errShortToken)
	}
	o.key.Store(&token)
	return nil
}

var errShortToken = errors.New("the token has less than " + strconv.Itoa(minToken) + " bytes; write a random one, such as the output of openssl rand -hex 32")

// hasToken reports whether a token is configured.
func (o *operators) hasToken() bool { return o.path != "" }

// isOperator reports whether a SPIFFE ID is an operator's, or extends one by whole path
// segments.
func (o *operators) isOperator(id string) bool {
	return slices.ContainsFunc(o.ids, func(operator string) bool {
		rest, ok := strings.CutPrefix(id, operator)
		return ok && (rest == "" || strings.HasPrefix(rest, "/"))
	})
}

// equal reports whether a client's text is the token. Its time does not depend on where
// they differ.
func (o *operators) equal(token string) bool {
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256(*o.key.Load())
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// proves reports whether a request has the token, or the cookie that the login page sets.
func (o *operators) proves(r *http.Request) bool {
	if !o.hasToken() {
		return false
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	cookie, err := r.Cookie(sessionCookie)
	switch {
	case !bearer && err != nil, !o.guesses.mayTry(r, time.Now()):
		return false
	case bearer && o.equal(strings.TrimSpace(token)), !bearer && o.isSession(cookie.Value, time.Now()):
		return true
	}
	o.guesses.failed(r)
	return false
}

const (
	sessionCookie = "meshmatch-session"
	sessionTime   = 12 * time.Hour
)

// session returns the value of the cookie: its expiry, and a code that is made with the
// token. So each replica with the token accepts it, and a new token ends it.
func (o *operators) session(end time.Time) string {
	text := strconv.FormatInt(end.Unix(), 10)
	return text + "." + hex.EncodeToString(o.code(text))
}

func (o *operators) code(end string) []byte {
	code := hmac.New(sha256.New, *o.key.Load())
	code.Write([]byte("meshmatch session until " + end))
	return code.Sum(nil)
}

func (o *operators) isSession(value string, now time.Time) bool {
	end, code, _ := strings.Cut(value, ".")
	given, err := hex.DecodeString(code)
	if err != nil || !hmac.Equal(given, o.code(end)) {
		return false
	}
	seconds, err := strconv.ParseInt(end, 10, 64)
	return err == nil && now.Unix() < seconds
}

// ownsPath reports whether a path is about a dataplane with the SPIFFE ID: its status, or
// a path below it in the Inspect API.
func (p *publication) ownsPath(id string, u *url.URL) bool {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i, segment := range segments {
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" || text == "." || text == ".." {
			return false
		}
		segments[i] = text
	}
	switch {
	case len(segments) == 3 && segments[0] == "dataplanes" && segments[2] == "status":
		d := p.view().DataplaneOf(segments[1])
		return d != nil && slices.Contains(p.owners().dataplanes[id], d)
	case len(segments) >= 4 && segments[0] == "meshes" && segments[2] == "dataplanes":
		name := find.Name{Name: segments[3]}
		if query := u.Query(); query.Has("namespace") { // as the Inspect API reads it
			namespace := query.Get("namespace")
			name.Namespace = &namespace
		}
		d, err := find.Dataplane(p.view(), segments[1], name)
		return err == nil && slices.Contains(p.owners().dataplanes[id], d)
	}
	return false
}

// authorize reports whether a request may be answered. If not, it answers with a problem,
// or redirects to the login page.
func (s *front) authorize(w http.ResponseWriter, r *http.Request) bool {
	if s.tls == nil && !s.operators.hasToken() || s.operators.proves(r) {
		return true
	}
	if s.tls != nil && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		id := spiffeIDOf(r.TLS.PeerCertificates[0])
		if id != "" && (s.operators.isOperator(id) || s.ownsPath(id, r.URL)) {
			return true
		}
		if !s.operators.hasToken() {
			inspectapi.WriteProblem(w, http.StatusForbidden, "the client's SPIFFE ID is not an operator's; the client may read its own dataplane only")
			return false
		}
	}
	switch {
	case s.operators.hasToken() && !s.operators.guesses.mayTry(r, time.Now()):
		w.Header().Set("Retry-After", "1")
		inspectapi.WriteProblem(w, http.StatusTooManyRequests, "too many wrong tokens; try again later")
	case !s.operators.hasToken():
		inspectapi.WriteProblem(w, http.StatusUnauthorized, "a client certificate is required")
	case strings.Contains(r.Header.Get("Accept"), "text/html") && r.Method == http.MethodGet:
		http.Redirect(w, r, s.options.HTTPPrefix+loginFor(r), http.StatusSeeOther)
	default:
		w.Header().Set("WWW-Authenticate", "Bearer")
		inspectapi.WriteProblem(w, http.StatusUnauthorized, "the token of an operator is required")
	}
	return false
}
