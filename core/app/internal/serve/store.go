package serve

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// StoreStatus is the state of the stores in [Status] (SPEC 14.4).
type StoreStatus struct {
	// Name is the name of the store, or of several.
	Name string `json:"name"`
	// Revision is the revision that is served; 0: none yet.
	Revision source.Revision `json:"revision"`
	// Age is the time since the store confirmed that this is its newest state, in seconds. It
	// is absent until then.
	Age       *float64 `json:"age,omitempty"`
	Connected bool     `json:"connected"`
	// Invalid are the objects that do not load, in the order of their positions.
	// At most 100 are listed; MoreInvalid is the number of the others.
	Invalid     []InvalidObject `json:"invalid"`
	MoreInvalid int             `json:"moreInvalid,omitempty"`
	// Stores is the state of each of several stores; Revision is then the sum of theirs,
	// Age the largest one, and Connected is set if all are.
	Stores []OneStoreStatus `json:"stores,omitempty"`
}

// OneStoreStatus is the state of one of several stores, with the fields of [StoreStatus].
type OneStoreStatus struct {
	Name      string          `json:"name"`
	Revision  source.Revision `json:"revision"`
	Age       float64         `json:"age"`
	Connected bool            `json:"connected"`
}

// InvalidObject is an object of a store that does not load (SPEC 14.3).
type InvalidObject struct {
	Kind   string    `json:"kind"`
	At     string    `json:"at"`
	Errors []string  `json:"errors"`
	Since  time.Time `json:"since"`
	// Effect is "none", "last good" or "deny"; see [source.Invalid].
	Effect   string `json:"effect"`
	LastGood string `json:"lastGood,omitempty"`
}

// storeState is what is known of the stores. It is safe for concurrent use.
type storeState struct {
	mu        sync.Mutex
	seen      bool // there was an update of a store
	revision  source.Revision
	current   time.Time
	connected bool
	invalid   []source.Invalid
	stores    []source.StoreState
	losses    map[string]loss // the last one of each store, by its name
}

// loss is when and why a store was found to be lost.
type loss struct {
	at  time.Time
	err error
}

// isConnected reports whether a store has confirmed its state since it was last lost.
func (s *storeState) isConnected(of *source.StoreState) bool {
	return !of.Kept && of.Current.After(s.losses[of.Name].at)
}

// isOfStore reports whether an error is that a store cannot be read, or that its state
// cannot be used.
func isOfStore(err error) bool {
	var loss *source.Loss
	return errors.As(err, &loss) || errors.Is(err, source.ErrIncomplete) || errors.Is(err, source.ErrSetBack)
}

// lose logs that a store cannot be read. What is served does not change.
func (s *Server) lose(err error) {
	s.store.mu.Lock()
	s.store.connected = false
	var lost *source.Loss
	if errors.As(err, &lost) {
		if s.store.losses == nil {
			s.store.losses = map[string]loss{}
		}
		s.store.losses[lost.Source] = loss{time.Now(), err}
	}
	since, revision := s.store.current, s.store.revision
	s.store.mu.Unlock()
	text := diag.OneLine(err.Error())
	if since.IsZero() {
		s.loads.fail(err, time.Now(), text)
		s.options.Logger.Error(text + "; there is no configuration to serve until it can be read")
		return
	}
	s.loads.fail(err, since, text)
	s.options.Logger.Error(fmt.Sprintf("%s; still serving revision %d, confirmed at %s", text, revision, since.UTC().Format(time.RFC3339)))
}

// confirms handles an update that changes no resource, if nothing else is to be done. It
// reports whether that is so.
func (s *Server) confirms(update *source.Update) bool {
	if !update.Store || update.Changed() || s.resync || s.applied == nil || update.Kept != nil {
		return false
	}
	s.files = &source.Update{Set: update.Set, Revision: update.Revision, Store: true}
	s.stored(update)
	s.store.mu.Lock()
	connected := s.store.connected
	s.store.mu.Unlock()
	if connected && s.loads.current().stale != nil {
		s.loads.succeed(time.Now())
		s.options.Logger.Info(fmt.Sprintf("the store can be read again; revision %d is served", update.Revision))
	}
	return true
}

// stillLost records again, after a load of several stores, that one of them is lost.
func (s *Server) stillLost() {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	for i := range s.store.stores {
		one := &s.store.stores[i]
		if l := s.store.losses[one.Name]; l.err != nil && !s.store.isConnected(one) {
			s.loads.fail(l.err, one.Current, diag.OneLine(l.err.Error()))
		}
	}
}

// stored records an update of a store that is served, and logs its new invalid objects.
func (s *Server) stored(update *source.Update) {
	if !update.Store {
		return
	}
	s.store.mu.Lock()
	before := s.store.invalid
	s.store.seen, s.store.revision, s.store.current = true, update.Revision, update.Current
	s.store.invalid, s.store.stores, s.store.connected = update.Invalid, update.Stores, true
	for i := range update.Stores {
		s.store.connected = s.store.connected && s.store.isConnected(&update.Stores[i])
	}
	s.store.mu.Unlock()
	if kept := update.Kept; kept != nil {
		why := fmt.Sprintf("the store cannot be read at the start; its state of %s is served from %s", kept.At.UTC().Format(time.RFC3339), kept.Path)
		s.loads.resume(errors.New(why), kept.At, why)
		s.options.Logger.Error(why)
	}
	known := map[string]bool{}
	for _, i := range before {
		known[i.At] = true
	}
	log := newLoadLog(func(text string) { s.options.Logger.Error(text) })
	defer log.end()
	for _, i := range update.Invalid {
		if !known[i.At] {
			logInvalid(log, &i)
		}
	}
}

func logInvalid(log *loadLog, i *source.Invalid) {
	for _, e := range i.Errors {
		log.line(e.Code, e.Line())
	}
	switch i.Effect {
	case source.EffectLastGood:
		log.line(0, i.At+" does not load; "+i.LastGood+" stays in effect")
	case source.EffectDeny:
		log.line(0, i.At+" does not load and never did; every client of the inbounds that it may select is denied")
	case source.EffectNone:
		log.line(0, i.At+" does not load; it is left out")
	}
}

// maxInvalid limits the objects of /status, and the errors of one.
const maxInvalid = 100

// storeStatus returns the state of the stores; nil if there are none.
func (s *Server) storeStatus(now time.Time) *StoreStatus {
	if len(s.options.Stores) == 0 {
		return nil
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	status := &StoreStatus{Name: s.options.storeNames(), Revision: s.store.revision, Connected: s.store.connected, Invalid: []InvalidObject{}}
	if s.store.seen {
		age := now.Sub(s.store.current).Seconds()
		status.Age = &age
	}
	if len(s.options.Stores) > 1 {
		for i := range s.store.stores {
			one := &s.store.stores[i]
			status.Stores = append(status.Stores, OneStoreStatus{one.Name, one.Revision, now.Sub(one.Current).Seconds(), s.store.isConnected(one)})
		}
	}
	shown := s.store.invalid[:min(len(s.store.invalid), maxInvalid)]
	status.MoreInvalid = len(s.store.invalid) - len(shown)
	for _, i := range shown {
		object := InvalidObject{Kind: i.Kind, At: i.At, Since: i.Since.UTC(), Effect: i.Effect.String(), LastGood: i.LastGood}
		object.Errors = lists.Map(i.Errors[:min(len(i.Errors), maxInvalid)], func(e diag.Diagnostic) string { return diag.OneLine(e.Error()) })
		status.Invalid = append(status.Invalid, object)
	}
	return status
}

func (o *Options) storeNames() string {
	return strings.Join(lists.Map(o.Stores, source.Store.String), " and ")
}

// collectStore sends the metrics of the stores.
func (c *collector) collectStore(values scrape) {
	status := c.storeStatus(time.Now())
	if status == nil {
		return
	}
	values.flag(storeReadDesc, status.Connected)
	values.gauge(storeRevisionDesc, float64(status.Revision))
	if status.Age != nil {
		values.gauge(storeAgeDesc, *status.Age)
	}
	kinds := map[string]int{}
	c.store.mu.Lock()
	for _, i := range c.store.invalid {
		kind := i.Kind
		if !c.kinds[kind] { // a document names any kind
			kind = "other"
		}
		kinds[kind]++
	}
	c.store.mu.Unlock()
	for kind, n := range kinds {
		values.gauge(storeInvalidDesc, float64(n), kind)
	}
}
