package inspectapi

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/policyvariants"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// New returns the handler of the Inspect API. Current returns the state, or nil before the first load;
// it is called for each request. It answers every path that begins with
// /meshes, and /_placement.
func New(current func() *proxied.State, translators []xds.Translator) http.Handler {
	a := &api{current: current, translators: translators, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), mux: http.NewServeMux()}
	const dataplane = "/meshes/{mesh}/dataplanes/{name}/"
	for path, answer := range map[string]func(*question) (any, error){
		"/meshes":               meshes,
		dataplane + "_policies": aboutRules(proxyPolicies),
		dataplane + "_inbounds/{inbound}/_policies":   aboutRules(inboundPolicies),
		dataplane + "_outbounds/{outbound}/_policies": aboutRules(outboundPolicies),
		dataplane + "_rules":                          aboutRules(proxyRules),
		dataplane + "_inspect":                        aboutRules(inspectDataplane, "explain"),
		dataplane + "_access":                         access,
		dataplane + "_conf":                           conf,
		"/meshes/{mesh}/{kind}/{name}/_dataplanes":    policyDataplanes,
		"/meshes/{mesh}/_diff":                        meshDiff,
		"/meshes/{mesh}/_placement":                   meshPlacement,
		"/meshes/{mesh}/_variants":                    a.meshVariants,
		"/_placement":                                 clusterPlacement,
	} {
		a.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, answer) })
	}
	a.mux.HandleFunc("/", a.unknown)
	return a
}

type api struct {
	current     func() *proxied.State
	translators []xds.Translator
	mux         *http.ServeMux
	slots       chan struct{} // one for each question in progress
	// variants has the sets of the inbounds of a mesh from the first question about them on.
	variants policyvariants.Index
}

// question is a request with its state and mesh.
type question struct {
	*http.Request
	*proxied.State
	mesh        string
	translators []xds.Translator
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// Matches reports whether a GET request is for a path of the API.
func (a *api) Matches(get *http.Request) bool {
	_, pattern := a.mux.Handler(get)
	return pattern != "/"
}

// unknown answers requests that no other pattern matches.
func (a *api) unknown(w http.ResponseWriter, r *http.Request) {
	get := r.Clone(r.Context())
	get.Method = http.MethodGet
	if a.Matches(get) {
		w.Header().Set("Allow", "GET, HEAD")
		WriteProblem(w, http.StatusMethodNotAllowed, "use GET")
		return
	}
	WriteProblem(w, http.StatusNotFound, "there is no such path; use a path of the Inspect API, such as /meshes/default/dataplanes/NAME/_rules")
}

// wait is how long a question waits for others in progress.
const wait = 5 * time.Second

// serve answers one question. At most as many questions are in progress as there are
// processors.
func (a *api) serve(w http.ResponseWriter, r *http.Request, answer func(*question) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		w.Header().Set("Retry-After", "5")
		WriteProblem(w, http.StatusServiceUnavailable, "too many questions are being answered; ask again later")
		return
	}
	q := &question{Request: r, State: a.current(), mesh: r.PathValue("mesh"), translators: a.translators}
	if q.State == nil {
		WriteProblem(w, http.StatusServiceUnavailable, "the first load has not finished")
		return
	}
	if names := q.View.Meshes(); q.mesh != "" && !slices.Contains(names, q.mesh) {
		problem := diag.WithHint(`there is no mesh "`+diag.Clip(q.mesh, 100)+`"`, diag.DidYouMean(q.mesh, names))
		WriteProblem(w, http.StatusNotFound, problem)
		return
	}
	body, err := answer(q)
	if err != nil {
		WriteProblem(w, statusOf(err), err.Error())
		return
	}
	WriteJSON(w, body)
}

// parameters parses the query, with the parameter namespace.
func (q *question) parameters(known ...string) *parameters {
	return newParameters(q.URL.RawQuery, append(known, "namespace")...)
}

// name returns the name in the path.
func (q *question) name(p *parameters) find.Name {
	name := find.Name{Name: q.PathValue("name")}
	if p.values.Has("namespace") {
		namespace := p.text("namespace")
		name.Namespace = &namespace
	}
	return name
}

// dataplane returns the dataplane in the path. It reports errors of the parameters
// first.
func (q *question) dataplane(p *parameters) (*resource.Dataplane, error) {
	name := q.name(p)
	if p.err != nil {
		return nil, p.err
	}
	return find.Dataplane(q.View, q.mesh, name)
}

// kind returns the policy kind in the path.
func (q *question) kind() (*resource.Kind, error) {
	return find.Kind(q.View.Kinds(), q.PathValue("kind"))
}
