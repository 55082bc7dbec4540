package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/bounded"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The limits of a review. A review has an object twice if it is changed; an object of the API
// server has at most 1.5 MiB.
const (
	maxReview   = 4 << 20
	maxWarnings = 16
	maxWarning  = 250 // characters: the API server shortens longer ones
	// longest is less than the second that an answer may take, and than the time limit of the
	// chart.
	longest = 900 * time.Millisecond
)

var (
	errLate   = errors.New("the answer would take longer than a second")
	errNotYet = errors.New("the first load has not finished")
)

// Options are what a handler is made of. All are required, except Refuses and Log.
type Options struct {
	// Current returns what is served, or nil before the first load.
	Current func() *proxied.State
	// Loader decodes the objects.
	Loader *resource.Loader
	// Translators make Envoy resources from the confs of policy kinds.
	Translators []xds.Translator
	// Refuses reports whether a finding refuses the object. Errors always do. Nil: no other
	// finding does.
	Refuses func(diag.Diagnostic) bool
	// RefuseLate refuses an object if the answer would take too long or cannot be computed.
	// Otherwise the object is allowed, with a warning.
	RefuseLate bool
	// Log has a line for each failure of a review; nil discards them.
	Log *slog.Logger
}

// New returns a handler that answers reviews at every path.
func New(o Options) http.Handler {
	if o.Refuses == nil {
		o.Refuses = func(diag.Diagnostic) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{Options: o, kinds: map[groupKind]bool{}}
	for _, shape := range resource.Shapes(o.Loader.Kinds, o.Loader.Documents) {
		h.kinds[groupKind{shape.Group, shape.Kind}] = true
	}
	// Proxies are served meanwhile: half of the processors stay free.
	h.slots = make(bounded.Slots, max(1, runtime.GOMAXPROCS(0)/2))
	return h
}

type handler struct {
	Options
	kinds map[groupKind]bool // that are read
	slots bounded.Slots

	mu   sync.Mutex
	last *found // the findings of the last state that was asked about
}

type groupKind struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
}

// review is an AdmissionReview of admission.k8s.io/v1.
type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID         string          `json:"uid"`
	Kind        groupKind       `json:"kind"`
	SubResource string          `json:"subResource"`
	Operation   string          `json:"operation"`
	Object      json.RawMessage `json:"object"`
	OldObject   json.RawMessage `json:"oldObject"`
}

type response struct {
	UID      string            `json:"uid"`
	Allowed  bool              `json:"allowed"`
	Status   *status           `json:"status,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Notes    map[string]string `json:"auditAnnotations,omitempty"`
}

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const version, kind = "admission.k8s.io/v1", "AdmissionReview"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		inspectapi.WriteProblem(w, http.StatusMethodNotAllowed, "use POST with an AdmissionReview")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		inspectapi.WriteProblem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the review is larger than %d MiB", maxReview>>20))
		return
	} else if err != nil {
		return // the client has gone
	}
	var asked review
	if err := json.Unmarshal(body, &asked); err != nil {
		inspectapi.WriteProblem(w, http.StatusBadRequest, "the body is no AdmissionReview: "+diag.Clip(err.Error(), 200))
		return
	}
	if asked.APIVersion != version || asked.Kind != kind || asked.Request == nil || asked.Request.UID == "" {
		inspectapi.WriteProblem(w, http.StatusBadRequest, "the body must be an "+kind+" of "+version+" with a request that has a uid")
		return
	}
	answer := h.answer(r.Context(), asked.Request)
	answer.UID = asked.Request.UID
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review{APIVersion: version, Kind: kind, Response: answer}) // fails if the client has gone
}

// answer judges the object of a request in time.
func (h *handler) answer(ctx context.Context, r *request) *response {
	begin := time.Now()
	limits := bounded.Limits{Wait: longest / 2, Longest: longest / 2, TooLong: errLate}
	v, err := bounded.Answer(ctx, h.slots, limits, func(ctx context.Context) (v *verdict, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				h.Log.Error(fmt.Sprintf("a review of %.100q failed: %v", r.Kind.Kind, reason), "stack", string(debug.Stack()))
				err = errors.New("the review failed; the log of the server has the reason")
			}
		}()
		return h.judge(ctx, r)
	})
	if err == nil {
		return v.response()
	}
	h.Log.Warn(fmt.Sprintf("no review of %.100q after %d ms: %v", r.Kind.Kind, time.Since(begin).Milliseconds(), err))
	text := "meshmatch did not examine this object: " + err.Error()
	if h.RefuseLate {
		return &response{Status: &status{http.StatusServiceUnavailable, text}}
	}
	return &response{Allowed: true, Warnings: []string{diag.Clip(diag.OneLine(text), maxWarning)}}
}
