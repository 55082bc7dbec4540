package pages

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/diag"
)

//go:embed static
var files embed.FS

// count returns a number with its noun.
func count(n int, noun string) string {
	return thousands(n) + strings.TrimPrefix(diag.Count(n, noun), strconv.Itoa(n))
}

// andMore names what a list leaves out, if anything.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " and " + thousands(n) + " more"
}

// capital returns a text that begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// thousands returns a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// view is a page before it is written.
type view struct {
	Title   string // of the page, which is its h1 too
	Kind    string // of the subject, such as Dataplane; shown next to the title
	Section string // of the navigation
	Live    bool   // the page follows changes
	Data    content
	JSON    any  // the answer
	HasJSON bool // there is an answer, which is made on request only
	status  int
}

// content is the data of a page, with the template that shows it.
type content interface {
	content(shown) templ.Component
}

// shown is a view with what every page has.
type shown struct {
	*view
	*ask
	Crumbs []link
	Nav    []link
	Query  string // of the search field
}

// link is a link with its text.
type link struct {
	Text, Href string
	Current    bool
}

func (s shown) Home() string               { return s.site.to() }
func (s shown) SearchPath() string         { return s.site.to("search") }
func (s shown) Asset(name string) string   { return s.site.assetLink(name) }
func (s shown) Version() string            { return s.site.Version }
func (s shown) JSONLink() string           { return s.here("o", "json") }
func (s shown) Events() string             { return with(s.site.to("events"), "path", s.URL.RequestURI()) }
func (s shown) Time(t time.Time) *timeText { return newTime(t, s.now) }

// WindowTitle names the page among the windows of a browser.
func (s shown) WindowTitle() string {
	if s.mesh == "" || s.mesh == s.Title {
		return s.Title + " · meshmatch"
	}
	return s.Title + " · " + s.mesh + " · meshmatch"
}

// Path is the path of the page, without parameters.
func (s shown) Path() string { return s.site.prefix + s.URL.EscapedPath() }

// Here is the link of the page.
func (s shown) Here() string { return s.here() }

// MeshLink returns the path of a page of the mesh.
func (s shown) MeshLink(page string) string { return s.site.ofMesh(s.mesh, page) }

// here returns the link of the page with other parameters; an empty value removes one.
func (a *ask) here(pairs ...string) string {
	query := url.Values{}
	maps.Copy(query, a.form)
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Del(pairs[i])
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	link := a.site.prefix + a.URL.EscapedPath()
	if len(query) > 0 {
		link += "?" + query.Encode()
	}
	return link
}

// sections are the pages of a mesh, in the order of the navigation.
var sections = []struct{ path, text string }{
	{"dataplanes", "Dataplanes"}, {"policies", "Policies"}, {"access", "Access"}, {"try", "Try"},
	{"values", "Values"}, {"rollouts", "Roll-outs"}, {"changes", "Changes"},
}

func (s *site) shown(a *ask, v *view) shown {
	p := shown{view: v, ask: a, Query: a.form.Get("q")}
	if v.Section != "search" {
		p.Query = ""
	}
	_, failed := v.Data.(problemData)
	mesh := a.mesh
	if a.State != nil && mesh == "" && len(a.View.Meshes()) == 1 {
		mesh = a.View.Meshes()[0]
	}
	p.Nav = append(p.Nav, link{"Overview", s.to(), v.Section == "overview"})
	if mesh != "" && !failed {
		for _, section := range sections {
			p.Nav = append(p.Nav, link{section.text, s.ofMesh(mesh, section.path), v.Section == section.path})
		}
	} else if !failed && a.hasClusters() {
		p.Nav = append(p.Nav, link{"Roll-outs", s.to("rollouts"), v.Section == "rollouts"})
	}
	p.Nav = append(p.Nav, link{"Findings", s.to("findings"), v.Section == "findings"})
	if a.mesh != "" && !failed {
		p.Crumbs = append(p.Crumbs, link{"Meshes", s.to(), false}, link{a.mesh, s.ofMesh(a.mesh), false})
		for _, section := range sections {
			if section.path == v.Section && v.Kind != "" {
				p.Crumbs = append(p.Crumbs, link{section.text, s.ofMesh(a.mesh, section.path), false})
			}
		}
	}
	return p
}

// write answers a request with a page, or with its JSON.
func (s *site) write(w http.ResponseWriter, a *ask, status int, v *view) {
	if v.status != 0 {
		status = v.status
	}
	if a.wantsJSON() && v.JSON != nil {
		inspectapi.WriteJSON(w, v.JSON)
		return
	}
	var b bytes.Buffer
	if err := layout(s.shown(a, v)).Render(context.WithoutCancel(a.Context()), &b); err != nil {
		panic(fmt.Sprintf("the page %s: %v", v.Title, err)) // the server logs it
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails if the client has gone
}

// policyOfContent permits what is loaded from the server itself, and nothing else.
const policyOfContent = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// setHeaders sets the headers of every answer.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policyOfContent)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Cookie")
}

const assetPath = "/assets/"

// asset is a file of static.
type asset struct {
	content           []byte
	hash, contentType string
}

// assets returns the files of static, by name.
var assets = sync.OnceValue(func() map[string]asset {
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	all := map[string]asset{}
	entries, err := files.ReadDir("static")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		content, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(content)
		all[e.Name()] = asset{content, hex.EncodeToString(sum[:6]), types[path.Ext(e.Name())]}
	}
	return all
})

// assetLink returns the path of a file, which changes with its content.
func (l links) assetLink(name string) string {
	return with(l.prefix+assetPath+name, "v", assets()[name].hash)
}

// IsAsset reports whether a path names the style sheet, the script or the icon. They have no
// data of a mesh, so a login page may use them.
func IsAsset(path string) bool {
	name, ok := strings.CutPrefix(path, assetPath)
	_, known := assets()[name]
	return ok && known
}

// StyleSheet returns the link of the style sheet.
func StyleSheet(prefix string) string { return links{prefix}.assetLink("style.css") }

// Icon returns the link of the icon.
func Icon(prefix string) string { return links{prefix}.assetLink("icon.svg") }

func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	a, known := assets()[r.PathValue("name")]
	setHeaders(w.Header())
	if !known {
		s.fail(w, &ask{Request: r, site: s, now: s.Now(), State: s.Current(), form: r.URL.Query()}, notFound("file", r.PathValue("name"), nil))
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	if r.URL.Query().Get("v") == a.hash {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.content)
	}
}

// timeText is a time as people read it.
type timeText struct{ Machine, Exact, Relative string }

func newTime(t, now time.Time) *timeText {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &timeText{t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05 UTC"), relative(now.Sub(t))}
}

// relative describes how long ago something was. static/page.js has the same words.
func relative(d time.Duration) string {
	switch {
	case d < 5*time.Second && d > -5*time.Second:
		return "just now"
	case d < 0:
		return "in " + spanOf(-d)
	default:
		return spanOf(d) + " ago"
	}
}

func spanOf(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// stateTexts are how pages show how far a proxy is.
var stateTexts = map[string]string{"converged": "✓ converged", "pending": "… pending", "silent": "? silent", "absent": "○ absent"}

func stateText(state string) string { return cmp.Or(stateTexts[state], state) }

// verb returns a noun with its verb, for a number.
func verb(n int, noun, verb string) string {
	if n == 1 {
		return noun + " " + verb + "s"
	}
	return noun + "s " + verb
}
