package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The times of a stream of events. Changes that follow each other are one event.
const (
	eventPause    = time.Second
	eventPing     = 15 * time.Second
	eventDeadline = 30 * time.Second // to write one event
	eventsLongest = time.Hour        // then the browser connects again
)

// events answers GET /events?path=PATH: a stream of server-sent events. An event "changed"
// is sent when something has changed on the page with the path. Its data is the time.
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "30")
		inspectapi.WriteProblem(w, http.StatusServiceUnavailable, "too many live pages are open")
		return
	}
	u, err := url.ParseRequestURI(r.URL.Query().Get("path"))
	if err != nil {
		inspectapi.WriteProblem(w, http.StatusBadRequest, "path must be the path of a page")
		return
	}
	content := s.contentOf(u)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // not every writer has deadlines
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would wait for more
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(eventDeadline))
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	known := content(s.Current())
	if send("retry: 2000\nevent: hello\ndata: " + s.Now().UTC().Format(time.RFC3339) + "\n\n") {
		s.follow(r, content, known, send)
	}
}

// follow sends an event whenever the content of a page differs from the known one. It ends
// if a text cannot be sent, the client has left or the stream is long enough.
func (s *site) follow(r *http.Request, content func(*proxied.State) pageContent, known pageContent, send func(text string) bool) {
	end := time.After(eventsLongest)
	ping := time.NewTicker(eventPing)
	defer ping.Stop()
	for {
		var superseded, changed <-chan struct{}
		if state := s.Current(); state != nil {
			superseded = state.Superseded
		}
		if s.Changed != nil {
			changed = s.Changed()
		}
		select {
		case <-r.Context().Done():
			return
		case <-end:
			return
		case <-ping.C:
			if !send(": still here\n\n") {
				return
			}
		case <-superseded:
		case <-changed:
		case <-time.After(eventPause): // proxies converge without a new state
		}
		if now := content(s.Current()); now != known {
			known = now
			if !send("event: changed\ndata: "+s.Now().UTC().Format(time.RFC3339)+"\n\n") || !s.pause(r) {
				return
			}
		}
	}
}

// pause waits between two events, and reports whether the client is still there.
func (s *site) pause(r *http.Request) bool {
	select {
	case <-time.After(eventPause):
		return true
	case <-r.Context().Done():
		return false
	}
}

// pageContent is what a page shows, as far as it costs little to know. Equal values mean
// that nothing has changed there. It is comparable.
type pageContent struct {
	state    *proxied.State // of pages that any change may concern
	resource any            // the dataplane
	snapshot any            // of the dataplane
	shadow   string         // the configs with the policies that inform, as pointers
	node     string         // how far the proxies are
	change   string         // the last commit and its convergence
	load     string         // the outcome of the last loads
	findings *checked       // the last ones that are known
}

// contentOf returns a function that returns the content of the page with a path.
func (s *site) contentOf(u *url.URL) func(*proxied.State) pageContent {
	segments := strings.Split(strings.Trim(strings.TrimPrefix(u.EscapedPath(), s.prefix), "/"), "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil {
			segments[i] = text
		}
	}
	if len(segments) == 4 && segments[0] == "meshes" && segments[2] == "dataplanes" {
		return func(state *proxied.State) pageContent {
			return s.contentOfDataplane(state, segments[1], segments[3], u.Query())
		}
	}
	return func(state *proxied.State) pageContent {
		return pageContent{state: state, change: s.lastChange(), load: s.lastLoad(), findings: s.lastFound()}
	}
}

// contentOfDataplane returns what the page of a dataplane shows.
func (s *site) contentOfDataplane(state *proxied.State, mesh, name string, query url.Values) pageContent {
	if state == nil {
		return pageContent{}
	}
	a := &ask{State: state, site: s, mesh: mesh, form: query}
	d, err := a.dataplane(name)
	if err != nil {
		return pageContent{node: "gone"}
	}
	c := pageContent{resource: d, snapshot: state.Snapshots.Snapshot(d, xds.Envoy)}
	if enforced, shadow := state.View.Configs(d, inspect.ScopeOf(false)), state.View.Configs(d, inspect.ScopeOf(true)); !slices.Equal(enforced, shadow) {
		c.shadow = fmt.Sprintf("%p", shadow)
	}
	if len(state.View.Dataplanes(mesh)) <= fewDataplanes {
		c.state = state // any change may concern who may call it
	}
	if s.Proxies != nil {
		c.node = s.nodeContent(d)
	}
	return c
}

// nodeContent describes how far the proxy of a dataplane is.
func (s *site) nodeContent(d *resource.Dataplane) string {
	kri := d.KRI("")
	var b strings.Builder
	b.WriteString(s.Proxies.NodeState(kri).String())
	status := s.Proxies.Status(kri)
	for _, stream := range status.Streams {
		fmt.Fprint(&b, stream.Since.UnixNano())
	}
	for _, t := range sortedPointers(status.Types) {
		state := status.Types[t]
		fmt.Fprint(&b, t, state.Sent, state.Acked, state.NACK != nil, state.Silent != nil)
	}
	return b.String()
}

// lastLoad describes what overviews show of the loads, except times that pass.
func (s *site) lastLoad() string {
	if s.Load == nil {
		return ""
	}
	load := s.Load()
	return fmt.Sprint(load.StaleSince, load.StaleWhy, load.Errors, load.Held, load.Store, load.StoreConnected)
}

// lastFound returns the last findings, or nil while they are sought.
func (s *site) lastFound() *checked {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if last := s.cache.last; last != nil && last.ready() {
		return last
	}
	return nil
}

// lastChange describes the last commit, and how many proxies have converged.
func (s *site) lastChange() string {
	list := s.Changes()
	var b strings.Builder
	for _, c := range list[:min(lastChanges, len(list))] {
		fmt.Fprint(&b, c.Number, " ", len(c.Convergence), c.Superseded, ";")
	}
	return b.String()
}
