package serve

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
)

const loginPath = "/login"

// maxLogin limits the body of a login.
const maxLogin = 4 << 10

// login serves the login page, which exchanges the token for a cookie.
func (s *front) login(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	switch {
	case !s.operators.hasToken():
		inspectapi.WriteProblem(w, http.StatusNotFound, "the server has no token for operators, so there is no login")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		s.writeLogin(w, http.StatusOK, r.URL.Query().Get("next"), "")
	case r.Method != http.MethodPost:
		header.Set("Allow", "GET, HEAD, POST")
		inspectapi.WriteProblem(w, http.StatusMethodNotAllowed, "use GET or POST")
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
		if !s.operators.guesses.mayTry(r, time.Now()) {
			header.Set("Retry-After", "1")
			s.writeLogin(w, http.StatusTooManyRequests, r.PostFormValue("next"), "Too many wrong tokens. Try again later.")
			return
		}
		if !s.operators.equal(r.PostFormValue("token")) {
			s.operators.guesses.failed(r)
			s.writeLogin(w, http.StatusUnauthorized, r.PostFormValue("next"), "This is not the token.")
			return
		}
		http.SetCookie(w, &http.Cookie{
			Name: sessionCookie, Value: s.operators.session(time.Now().Add(sessionTime)), Path: "/",
			MaxAge: int(sessionTime / time.Second), HttpOnly: true, Secure: s.tls != nil, SameSite: http.SameSiteStrictMode,
		})
		http.Redirect(w, r, s.options.HTTPPrefix+nextPath(r.PostFormValue("next")), http.StatusSeeOther)
	}
}

// loginFor returns the path of the login page that leads to the requested one.
func loginFor(r *http.Request) string {
	next := r.URL.RequestURI()
	if next == "/" || nextPath(next) != next {
		return loginPath
	}
	return loginPath + "?next=" + url.QueryEscape(next)
}

// nextPath returns the path to go to after a login, with its query. It is one of this server:
// a link to the login page must not lead to another host.
func nextPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

func (s *front) writeLogin(w http.ResponseWriter, status int, next, problem string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	page := loginPage(pages.StyleSheet(s.options.HTTPPrefix), pages.Icon(s.options.HTTPPrefix), s.options.HTTPPrefix+loginPath, nextPath(next), problem)
	_ = page.Render(context.Background(), w) // fails if the client has gone
}
