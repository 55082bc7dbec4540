package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/bounded"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// Proxies returns how far proxies are. [server.Server] implements it.
type Proxies interface {
	NodeState(kri string) server.NodeState
	Status(kri string) server.Status
}

// Load is the outcome of the loads so far.
type Load struct {
	Last   time.Time // of the last good load
	Errors []string  // of the last load
	// StaleSince and StaleWhy are set if the current files are not served.
	StaleSince time.Time
	StaleWhy   string
	// Store is the name of the store that is followed; "": there is none. StoreAge is the
	// time since it confirmed its state; negative: it never did.
	Store          string
	StoreAge       time.Duration
	StoreConnected bool
	// Held is how many removals of dataplanes wait.
	Held int64
}

// A ClientVersion is a version of the connected proxies, and what it lacks of the newest one.
type ClientVersion struct {
	Version string   `json:"version"`
	Streams int      `json:"streams"`
	Lacks   []string `json:"lacks,omitempty"`
}

// Options are what pages are made of. Current, Loader and Translators are required.
type Options struct {
	// Current returns the state, or nil before the first load. It is called for each
	// request.
	Current func() *proxied.State
	// Loader decodes the text of policies that are tried.
	Loader *resource.Loader
	// Translators make Envoy resources from the confs of policy kinds.
	Translators []xds.Translator
	// Proxies are the connected proxies; nil if none are served.
	Proxies Proxies
	// Clients returns the versions of the connected proxies; nil: they are not shown.
	Clients func() []ClientVersion
	// Load returns the outcome of the loads; nil: it is not shown.
	Load func() Load
	// Changes returns the last commits, newest first.
	Changes func() []Commit
	// Changed returns a channel that is closed when the convergence of a commit changes.
	Changed func() <-chan struct{}
	// ReadSource returns the content of a file that resources were read from; nil: pages
	// show the policies of the last read. It must not wait: the file may be another one
	// now.
	ReadSource func(file string) ([]byte, error)
	// TLS reports whether clients of ADS need an identity. It adds the findings about
	// dataplanes without one.
	TLS bool
	// Prefix begins the path of every link; it does not end in a slash.
	Prefix  string
	Version string
	// Fallback answers the other paths of the Inspect API.
	Fallback http.Handler
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
}

// New returns the handler of the pages. Its paths do not have the prefix.
func New(o Options) http.Handler {
	s := newSite(o)
	return s.handler(s.pages())
}

func newSite(o Options) *site {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changes == nil {
		o.Changes = func() []Commit { return nil }
	}
	return &site{
		Options: o, mux: http.NewServeMux(), slots: make(bounded.Slots, 2*runtime.GOMAXPROCS(0)),
		long: make(bounded.Slots, 1), streams: make(chan struct{}, maxStreams), links: links{o.Prefix},
	}
}

// pages returns the pages by method and path.
func (s *site) pages() map[string]page {
	return map[string]page{
		"GET /{$}":                                  {s.overview, false},
		"GET /meshes/{mesh}":                        {s.mesh, false},
		"GET /meshes/{mesh}/dataplanes":             {s.dataplanes, false},
		"GET /meshes/{mesh}/dataplanes/{name}":      {s.dataplane, false},
		"GET /meshes/{mesh}/policies":               {s.policies, false},
		"GET /meshes/{mesh}/policies/{kind}/{name}": {s.policy, false},
		"GET /meshes/{mesh}/access":                 {s.access, true},
		"GET /meshes/{mesh}/try":                    {s.tryRequest, false},
		"POST /meshes/{mesh}/try":                   {s.tryPolicy, true},
		"GET /meshes/{mesh}/changes":                {s.changes, false},
		"GET /meshes/{mesh}/rollouts":               {s.rollouts, true},
		"GET /rollouts":                             {s.rollouts, true},
		"GET /meshes/{mesh}/values":                 {s.values, true},
		"GET /findings":                             {s.findings, false},
		"GET /search":                               {s.search, false},
	}
}

func (s *site) handler(pages map[string]page) http.Handler {
	protect := http.NewCrossOriginProtection()
	for path, p := range pages {
		s.mux.Handle(path, protect.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, p) })))
	}
	s.mux.HandleFunc("GET /events", s.events)
	s.mux.HandleFunc("GET "+assetPath+"{name}", s.asset)
	s.mux.HandleFunc("/", s.unknown)
	return s.mux
}

// site is the handler of the pages.
type site struct {
	Options
	links
	mux     *http.ServeMux
	slots   bounded.Slots // one for each page in progress
	long    bounded.Slots // for pages that may take long
	streams chan struct{} // one for each stream of events
	cache   cache
}

// page is the answer of one path.
type page struct {
	answer func(*ask) (*view, error)
	long   bool // the answer may take long
}

// ask is a request for a page, with the state that the page is about.
type ask struct {
	*http.Request
	*proxied.State
	site *site
	mesh string
	now  time.Time
	form url.Values // the query or, of a POST, the form
}

// The limits of pages.
const (
	slotWait   = 5 * time.Second  // how long a page waits for others
	longest    = 10 * time.Second // how long a page may take
	perPage    = 100              // rows
	maxStreams = 256
)

var (
	errTooLong = errors.New("the answer takes longer than " + longest.String() + "; ask about a part of the mesh, or use the command line")
	errNotYet  = errors.New("the first load has not finished; the page will be there in a moment")
)

// problem is an error with the status of the answer.
type problem struct {
	status int
	error
}

func (p problem) Unwrap() error { return p.error }

func notFound(what, name string, known []string) error {
	return problem{http.StatusNotFound, errors.New(diag.WithHint("there is no "+what+" "+strconv.Quote(diag.Clip(name, 100)), diag.DidYouMean(name, known)))}
}

func badRequest(text string) error { return problem{http.StatusBadRequest, errors.New(text)} }

// statusOf returns the status of an error.
func statusOf(err error) int {
	var p problem
	switch {
	case errors.As(err, &p):
		return p.status
	case errors.Is(err, find.ErrNotFound), errors.Is(err, core.ErrUnknownResource):
		return http.StatusNotFound
	case errors.Is(err, bounded.ErrBusy), errors.Is(err, errTooLong), errors.Is(err, errNotYet):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// serve answers a request with a page.
func (s *site) serve(w http.ResponseWriter, r *http.Request, p page) {
	setHeaders(w.Header())
	a := &ask{Request: r, site: s, mesh: r.PathValue("mesh"), now: s.Now()}
	v, err := s.answer(a, w, p)
	if err != nil {
		s.fail(w, a, err)
		return
	}
	s.write(w, a, http.StatusOK, v)
}

// answer makes a page. The number of pages in progress is limited, and each gets a time. A
// page that may take long waits for no more than one other such page.
func (s *site) answer(a *ask, w http.ResponseWriter, p page) (*view, error) {
	if a.State = s.Current(); a.State == nil {
		return nil, errNotYet
	}
	if names := a.View.Meshes(); a.Request.PathValue("mesh") != "" && !slices.Contains(names, a.mesh) {
		return nil, notFound("mesh", a.mesh, names)
	}
	var err error
	if a.form, err = s.parse(w, a.Request); err != nil {
		return nil, err
	}
	if format := a.form.Get("o"); format != "" && format != "json" && format != "html" {
		return nil, badRequest("o must be json or html")
	}
	slots := s.slots
	if p.long {
		slots = s.long
	}
	limits := bounded.Limits{Wait: slotWait, Longest: longest, TooLong: errTooLong}
	return bounded.Answer(a.Context(), slots, limits, func(ctx context.Context) (*view, error) {
		a.Request = a.Request.WithContext(ctx)
		return p.answer(a)
	})
}

// parse returns the parameters of a request.
func (s *site) parse(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Method != http.MethodPost {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, badRequest("the parameters are malformed: " + err.Error())
		}
		return values, nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxTried)
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, problem{http.StatusRequestEntityTooLarge, errors.New("the text is larger than " + strconv.Itoa(maxTried>>10) + " KiB; use the command diff")}
		}
		return nil, badRequest("the form is malformed: " + err.Error())
	}
	return r.Form, nil
}

// unknown answers requests that no page matches.
func (s *site) unknown(w http.ResponseWriter, r *http.Request) {
	get := r.Clone(r.Context())
	get.Method = http.MethodGet
	_, pattern := s.mux.Handler(get)
	below, isBelow := strings.CutPrefix(r.URL.Path, "/meshes/")
	if s.Fallback != nil && pattern == "/" && (r.URL.Path == "/meshes" || r.URL.Path == "/_placement" || isBelow && below != "") {
		matcher, matches := s.Fallback.(interface{ Matches(*http.Request) bool })
		forPage := matches && !matcher.Matches(get) && strings.Contains(r.Header.Get("Accept"), "text/html") // a browser's, of no other path
		if !forPage {
			s.Fallback.ServeHTTP(w, r)
			return
		}
	}
	setHeaders(w.Header())
	a := &ask{Request: r, site: s, now: s.Now(), State: s.Current(), form: r.URL.Query()}
	if pattern != "/" {
		w.Header().Set("Allow", "GET, HEAD")
		s.fail(w, a, problem{http.StatusMethodNotAllowed, errors.New("use GET")})
		return
	}
	s.fail(w, a, problem{http.StatusNotFound, errors.New("there is no page here; begin at the overview")})
}

// fail answers a request with a problem.
func (s *site) fail(w http.ResponseWriter, a *ask, err error) {
	status := statusOf(err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	if a.wantsJSON() {
		inspectapi.WriteProblem(w, status, err.Error())
		return
	}
	s.write(w, a, status, &view{Title: http.StatusText(status), Data: problemData{err.Error(), status == http.StatusServiceUnavailable}})
}

type problemData struct {
	What  string
	Again bool // the same request may succeed later
}

func (a *ask) wantsJSON() bool {
	return a.form.Get("o") == "json" || a.form == nil && a.URL.Query().Get("o") == "json"
}

// dataplane returns the dataplane of the path.
func (a *ask) dataplane(name string) (*resource.Dataplane, error) {
	if d := a.View.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: a.mesh, Name: name}); d != nil {
		return d, nil
	}
	return find.Dataplane(a.View, a.mesh, a.name(name))
}

// name returns a name with the namespace of the parameters.
func (a *ask) name(name string) find.Name {
	n := find.Name{Name: name}
	if a.form.Has("namespace") {
		namespace := a.form.Get("namespace")
		n.Namespace = &namespace
	}
	return n
}

// pageNumber returns the parameter page, which begins at 1.
func (a *ask) pageNumber() (int, error) {
	text := a.form.Get("page")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, badRequest("page must be a number from 1")
	}
	return n, nil
}
