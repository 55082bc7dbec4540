package relay

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/app/internal/kept"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The cache is kept in one file (package kept): what follows in gob. Each content is in it once.
// Secrets are not in it.

// saved is the content of the file.
type saved struct {
	At        time.Time // when the upstream was last connected
	Resources []savedResource
	Names     []savedName
	Nodes     []savedNode
	Grants    []savedGrant
}

type savedResource struct {
	Type wire.Type
	Name string
	Body []byte
}

type savedName struct {
	Type               wire.Type
	Name               string
	UserAgent, Version string // of one of the clients
	Variants           []savedVariant
	Questions          []savedSubscription
}

type savedVariant struct {
	Resource             int // an index of Resources
	Constraints, Version string
}

type savedSubscription struct {
	Parameters map[string]string
	Verdict    server.Verdict
}

type savedNode struct {
	ID, Identity, UserAgent, Version string
	Message                          []byte // Node
	Types                            [wire.NumTypes]savedNodeType
	None, Denied                     bool
}

type savedNodeType struct {
	All, AllAnswered bool
	Names            []string
	Missing          []bool // by the index of Names
	Resources        []int
	Versions         []string
}

type savedGrant struct {
	Identity           string
	Parameters         map[string]string
	Type               wire.Type // of the first locator
	Name               string
	Verdict            server.Verdict
	UserAgent, Version string // of one of the clients
}

func (r *Relay) statePath() string { return filepath.Join(r.options.State, "relay-cache") }

// saver has what is used by the goroutine that saves.
type saver struct {
	last  *State // that was saved
	next  int64  // when to save again, as clock
	error string // the last one, which is logged once
}

// saveEvery is the least time between two writes of the file, in seconds.
const saveEvery = 5

// keep saves the cache, if it has changed and enough time has passed.
func (r *Relay) keep(now int64) {
	if r.options.State == "" || now < r.saver.next || r.saver.last == r.current.Load() {
		return
	}
	r.saver.next = now + saveEvery
	r.save()
}

// save saves the cache.
func (r *Relay) save() {
	if r.options.State == "" {
		return
	}
	state := r.current.Load()
	if err := writeFile(r.statePath(), r.collect()); err != nil {
		if r.saver.error != err.Error() {
			r.saver.error = err.Error()
			r.log.Error("the cache cannot be kept: " + err.Error())
		}
		return
	}
	r.saver.last, r.saver.error = state, ""
}

// collect returns what is saved.
func (r *Relay) collect() *saved {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &saved{At: r.lost}
	if r.upstream.conn != nil {
		s.At = time.Now()
	}
	indexes := map[*wire.Resource]int{}
	index := func(x *wire.Resource) int {
		i, ok := indexes[x]
		if !ok {
			i = len(s.Resources)
			indexes[x] = i
			s.Resources = append(s.Resources, savedResource{x.Type, x.Name, x.Body})
		}
		return i
	}
	for key, n := range r.names {
		of := savedName{Type: key.t, Name: key.name, UserAgent: n.locators.by.userAgent, Version: n.locators.by.version}
		if n.view != nil {
			for _, h := range n.view.variants {
				of.Variants = append(of.Variants, savedVariant{index(h.variant.Resource), h.variant.Constraints, h.version})
			}
		}
		for _, sub := range n.subscriptions {
			if sub.requested {
				of.Questions = append(of.Questions, savedSubscription{sub.parameters.Values, sub.verdict})
			}
		}
		s.Names = append(s.Names, of)
	}
	for key, n := range r.nodes {
		of := savedNode{ID: key.id, Identity: key.identity, UserAgent: key.userAgent, Version: key.version, None: n.none, Denied: n.denied}
		of.Message, _ = proto.Marshal(n.message)
		for t := range n.types {
			from, to := &n.types[t], &of.Types[t]
			to.All, to.AllAnswered = from.all, from.allReceived
			for _, name := range from.names {
				to.Names, to.Missing = append(to.Names, name.name), append(to.Missing, name.verdict == server.Missing)
			}
			if wire.Type(t) == wire.SecretType {
				to.AllAnswered = false
				continue
			}
			for _, h := range from.held {
				to.Resources, to.Versions = append(to.Resources, index(h.resource)), append(to.Versions, h.version)
			}
		}
		s.Nodes = append(s.Nodes, of)
	}
	for key, g := range r.grants {
		if g.verdict != server.Unknown {
			s.Grants = append(s.Grants, savedGrant{key.identity, g.parameters, g.first.t, g.first.name, g.verdict, g.by.userAgent, g.by.version})
		}
	}
	return s
}

// writeFile replaces a file.
func writeFile(path string, s *saved) error {
	file, err := kept.Create(path)
	if err != nil {
		return err
	}
	if err := gob.NewEncoder(file).Encode(s); err != nil {
		file.Discard()
		return err
	}
	return file.Keep()
}

// maxSaved limits the size of a file with the state of a relay.
const maxSaved = 4 << 30

func readFile(path string) (*saved, error) {
	content, err := kept.Read(path, maxSaved)
	if err != nil {
		return nil, err
	}
	s := new(saved)
	if err := gob.NewDecoder(bytes.NewReader(content)).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", kept.ErrDamaged, err)
	}
	return s, nil
}

// load fills the cache from the file. If it is damaged, the cache stays empty.
func (r *Relay) load() {
	s, err := readFile(r.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = r.restore(s)
	}
	if err != nil {
		r.names, r.nodes, r.grants, r.subscribed = map[nameKey]*name{}, map[nodeKey]*node{}, map[grantKey]*grant{}, 0
		r.refusals, r.locators = map[string]*refusals{}, map[capability.Client]*locators{}
		r.edit = r.current.Load().edit()
		r.log.Error("the kept cache is not used: " + r.statePath() + ": " + err.Error())
		return
	}
	r.lost = s.At
	if r.lost.After(r.start) {
		r.lost = r.start // the clock was set back
	}
	r.log.Info("the kept cache is served until the upstream responds", "at", s.At.UTC().Format(time.RFC3339))
}

// restore makes the cache from what was saved.
func (r *Relay) restore(s *saved) error {
	resources := lists.Map(s.Resources, func(x savedResource) *wire.Resource { return r.pool.resource(x.Type, x.Name, x.Body) })
	for i := range s.Names {
		if err := r.restoreName(&s.Names[i], resources); err != nil {
			return err
		}
	}
	for i := range s.Nodes {
		if err := r.restoreNode(&s.Nodes[i], resources); err != nil {
			return err
		}
	}
	for i := range s.Grants {
		r.restoreGrant(&s.Grants[i])
	}
	return nil
}

func (r *Relay) restoreName(from *savedName, resources []*wire.Resource) error {
	by := program{from.UserAgent, from.Version}
	n := &name{relay: r, locators: r.locatorsFor(by), key: nameKey{from.Type, from.Name, by.client()}, subscriptions: map[string]*subscription{}, batch: 1}
	var variants []*held
	for _, v := range from.Variants {
		c, err := parseConstraints(v.Constraints)
		if err != nil {
			return err
		}
		h := &held{variant: wire.Variant{Resource: resources[v.Resource], Constraints: v.Constraints}, predicate: c.predicate, version: v.Version}
		h.used.Store(r.clock.Load())
		variants = append(variants, h)
	}
	view, err := newView(variants, nil)
	if err != nil {
		return err
	}
	n.view = view
	for _, sub := range from.Questions {
		p := server.ParametersOf(sub.Parameters)
		n.subscriptions[p.Key] = &subscription{name: n, parameters: p, requested: true, verdict: sub.Verdict, used: r.clock.Load()}
	}
	n.countPending()
	r.subscribed += len(n.subscriptions)
	r.names[n.key] = n
	r.edit.names.set(n.key, n.view)
	return nil
}

func (r *Relay) restoreNode(from *savedNode, resources []*wire.Resource) error {
	n := &node{relay: r, key: nodeKey{from.ID, from.Identity, from.UserAgent, from.Version}, message: new(corev3.Node), view: new(nodeView), none: from.None, denied: from.Denied}
	if err := proto.Unmarshal(from.Message, n.message); err != nil {
		return err
	}
	n.used = r.clock.Load()
	for t := range n.types {
		of, saved := &n.types[t], &from.Types[t]
		of.all, of.allReceived = saved.All, saved.AllAnswered
		for i, name := range saved.Names {
			verdict := server.Unknown
			if saved.Missing[i] {
				verdict = server.Missing
			}
			of.names = append(of.names, nodeName{name, verdict})
		}
		for i, at := range saved.Resources {
			of.held = append(of.held, heldResource{resources[at], saved.Versions[i]})
		}
		slices.SortFunc(of.held, func(a, b heldResource) int { return compareHeld(a, b.resource.Name) })
	}
	r.nodes[n.key] = n
	n.publish()
	return nil
}

func (r *Relay) restoreGrant(from *savedGrant) {
	p := server.ParametersOf(from.Parameters)
	by := program{from.UserAgent, from.Version}
	g := &grant{relay: r, key: newGrantKey(from.Identity, from.Name, p), by: by, parameters: from.Parameters, first: nameKey{from.Type, from.Name, by.client()}, verdict: from.Verdict, used: r.clock.Load()}
	r.grants[g.key] = g
	r.countGrant(g.key.identity, g.verdict, 1)
	r.edit.grants.set(g.key, g.verdict)
}
