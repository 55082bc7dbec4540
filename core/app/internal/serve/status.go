package serve

import (
	"context"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// Status is the answer of GET /status (SPEC 12.5).
type Status struct {
	Version string `json:"version"`
	// Semantics is the way in which policies are read (SPEC 17.1).
	Semantics  semantics.Semantics `json:"semantics"`
	Meshes     int                 `json:"meshes"`
	Dataplanes *pages.ProxyStates  `json:"dataplanes"`
	Streams    int64               `json:"streams"`
	// Clients are the versions of the clients with a stream.
	Clients []FleetStatus `json:"clients"`
	// Errors are the errors of the last load.
	Errors []string `json:"errors"`
	// Stale is set if the current files are not served.
	Stale *Stale `json:"stale,omitempty"`
	// Slow is set while a load takes longer than 10 s.
	Slow         *Stale     `json:"slow,omitempty"`
	LastLoad     *time.Time `json:"lastLoad,omitempty"`     // of a good load
	HeldRemovals int64      `json:"heldRemovals,omitempty"` // dataplanes
	// Store is the state of the stores; nil: files alone are served.
	Store *StoreStatus `json:"store,omitempty"`
}

// streams returns the number of open streams.
func (s *front) streams() (n int64) {
	counters := s.ads.Counters()
	for i := range server.ProtocolNames {
		n += counters.Streams[i].Load()
	}
	return n
}

// status answers GET /status.
func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	current, loads := s.publisher.current.Load(), s.loads.current()
	status := Status{
		Version: s.options.Version, Semantics: current.view().Semantics(), Meshes: len(current.view().Meshes()),
		Dataplanes: pages.NewProxyStates(s.nodeStates(current)), Streams: s.streams(),
		Clients: s.fleet(), Errors: loads.errors, Stale: loads.stale, Slow: loads.slow, HeldRemovals: s.loads.held.Load(), Store: s.storeStatus(time.Now()),
	}
	if !loads.last.IsZero() {
		status.LastLoad = &loads.last
	}
	inspectapi.WriteJSON(w, status)
}

// nodeStates returns how many dataplanes have each state.
func (s *Server) nodeStates(p *publication) (states [server.NumNodeStates]int) {
	for _, mesh := range p.view().Meshes() {
		for _, d := range p.view().Dataplanes(mesh) {
			states[s.ads.NodeState(d.KRI(""))]++
		}
	}
	return states
}

// dataplaneStatus answers GET /dataplanes/{kri}/status (SPEC 12.5).
func (s *Server) dataplaneStatus(w http.ResponseWriter, r *http.Request) {
	kri := r.PathValue("kri")
	status := s.ads.Status(kri)
	if s.publisher.current.Load().view().DataplaneOf(kri) == nil && len(status.Streams) == 0 {
		inspectapi.WriteProblem(w, http.StatusNotFound, "there is no dataplane with this KRI, and no client that waits for it")
		return
	}
	inspectapi.WriteJSON(w, status)
}

// Convergence is the answer of GET /converged: how many of the selected dataplanes have
// ACKed the content that was current when asked.
type Convergence struct {
	// Done reports whether no dataplane is pending.
	Done      bool `json:"done"`
	Converged int  `json:"converged"`
	Pending   int  `json:"pending"`
	Absent    int  `json:"absent"` // without a stream
	Of        int  `json:"of"`     // all of them
	// Waiting are the KRIs of the first dataplanes that are pending.
	Waiting []string `json:"waiting"`
	// Silent are the types that clients of the selected dataplanes do not answer: such a dataplane is
	// neither converged nor pending.
	Silent []server.Silence `json:"silent,omitempty"`
}

const (
	defaultWait = 10 * time.Second
	maxWait     = 5 * time.Minute
	maxWaiting  = 20
	maxSilent   = 1000
)

// converged answers GET /converged?dataplanes=SELECTOR&timeout=10s.
func (s *Server) converged(w http.ResponseWriter, r *http.Request) {
	selector, err := labels.Parse(r.URL.Query().Get("dataplanes"))
	if err != nil {
		inspectapi.WriteProblem(w, http.StatusBadRequest, "dataplanes must be a label selector, such as app=web,team in (a,b): "+err.Error())
		return
	}
	ctx, cancel, ok := waiting(w, r)
	if !ok {
		return
	}
	defer cancel()
	inspectapi.WriteJSON(w, s.WaitConverged(ctx, selector))
}

// waiting returns a context that ends after the timeout of a request. It returns false if it
// has answered that the timeout is wrong.
func waiting(w http.ResponseWriter, r *http.Request) (ctx context.Context, cancel context.CancelFunc, ok bool) {
	timeout := defaultWait
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		if timeout, err = time.ParseDuration(text); err != nil || timeout < 0 || timeout > maxWait {
			inspectapi.WriteProblem(w, http.StatusBadRequest, "timeout must be a duration of at most "+maxWait.String()+", such as 10s")
			return nil, nil, false
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout + writeTimeout)) // not every writer has a deadline
	ctx, cancel = context.WithTimeout(r.Context(), timeout)
	return ctx, cancel, true
}

// WaitConverged waits until the selected, connected dataplanes have ACKed what is served to
// them at the time of the call, or until the context ends. It does not wait for dataplanes
// without a stream.
func (s *Server) WaitConverged(ctx context.Context, selector labels.Selector) *Convergence {
	return s.waitFor(ctx, s.selected(selector))
}

// waitFor waits until nodes that are connected have ACKed what is served to them, or until the
// context ends.
func (s *front) waitFor(ctx context.Context, nodes []string) *Convergence {
	connected := slices.DeleteFunc(slices.Clone(nodes), func(id string) bool { return s.ads.NodeState(id) == server.Absent })
	_, _ = s.ads.WaitConverged(ctx, connected) // the answer is counted below, with absent nodes
	answer := &Convergence{Of: len(nodes), Waiting: []string{}}
	for _, id := range nodes {
		switch s.ads.NodeState(id) {
		case server.Absent:
			answer.Absent++
		case server.Converged:
			answer.Converged++
		case server.Pending:
			answer.Pending++
			if len(answer.Waiting) < maxWaiting {
				answer.Waiting = append(answer.Waiting, id)
			}
		case server.Silent:
			of := s.ads.Silences(id)
			answer.Silent = append(answer.Silent, of[:min(len(of), maxSilent-len(answer.Silent))]...)
		}
	}
	answer.Done = answer.Pending == 0
	return answer
}

// selected returns the KRIs of the dataplanes with the labels of a selector.
func (s *Server) selected(selector labels.Selector) []string {
	view := s.publisher.current.Load().view()
	var kris []string
	for _, mesh := range view.Meshes() {
		list := lists.Filter(view.Dataplanes(mesh), func(d *resource.Dataplane) bool {
			return selector.Empty() || selector.Matches(labels.Set(d.Labels.Map()))
		})
		for _, d := range list {
			kris = append(kris, d.KRI(""))
		}
	}
	return kris
}
