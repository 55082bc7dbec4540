package relay

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The cache is kept in one file: what follows in gob, and a last line `sha256 HASH` with the
// hash of all before it. It is only ever replaced as a whole. Each content is in it once.
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
	Questions          []savedQuestion
}

type savedVariant struct {
	Resource             int // an index of Resources
	Constraints, Version string
}

type savedQuestion struct {
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

// ErrDamaged indicates that the file does not have the content that was written to it.
var ErrDamaged = errors.New("the file is damaged: its checksum does not match its content")

func (r *Relay) statePath() string { return filepath.Join(r.options.State, "relay-cache") }

const savedPattern = "relay-cache-*.tmp"

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
		for _, q := range n.questions {
			if q.asked {
				of.Questions = append(of.Questions, savedQuestion{q.parameters.Values, q.verdict})
			}
		}
		s.Names = append(s.Names, of)
	}
	for key, n := range r.nodes {
		of := savedNode{ID: key.id, Identity: key.identity, UserAgent: key.userAgent, Version: key.version, None: n.none, Denied: n.denied}
		of.Message, _ = proto.Marshal(n.message)
		for t := range n.types {
			from, to := &n.types[t], &of.Types[t]
			to.All, to.AllAnswered = from.all, from.allAnswered
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
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return err
	}
	b.WriteString(checksumLine(b.Bytes()))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), savedPattern) // of mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

func checksumLine(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256 " + hex.EncodeToString(sum[:]) + "\n"
}

// maxSaved limits the size of a file with the state of a relay.
const maxSaved = 4 << 30

// errNotSaved indicates that what is in the place of the file is not what a relay wrote.
var errNotSaved = errors.New("it is not a regular file of at most 4 GiB")

// readAll returns the content of a file that may be anything by now, and may grow: it does not wait for a
// FIFO, and reads no more than limit bytes.
func readAll(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, errNotSaved
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errNotSaved
	}
	return data, err
}

func readFile(path string) (*saved, error) {
	data, err := readAll(path, maxSaved)
	if err != nil {
		return nil, err
	}
	end := len(data) - len(checksumLine(nil))
	if end < 0 || checksumLine(data[:end]) != string(data[end:]) {
		return nil, ErrDamaged
	}
	s := new(saved)
	if err := gob.NewDecoder(bytes.NewReader(data[:end])).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return s, nil
}

// load fills the cache from the file. If it is damaged, the cache stays empty.
func (r *Relay) load() {
	r.removeAbandoned()
	s, err := readFile(r.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = r.restore(s)
	}
	if err != nil {
		r.names, r.nodes, r.grants, r.asked = map[nameKey]*name{}, map[nodeKey]*node{}, map[grantKey]*grant{}, 0
		r.refusals, r.locators = map[string]*refusals{}, map[capability.Client]*locators{}
		r.edit = r.current.Load().edit()
		r.log.Error("the kept cache is not used: " + r.statePath() + ": " + err.Error())
		return
	}
	r.lost = s.At
	if r.lost.After(r.start) {
		r.lost = r.start // the clock was set back
	}
	r.log.Info("the kept cache is served until the upstream answers", "at", s.At.UTC().Format(time.RFC3339))
}

// removeAbandoned removes the temporary files of relays that were killed.
func (r *Relay) removeAbandoned() {
	paths, _ := filepath.Glob(filepath.Join(r.options.State, savedPattern))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}

// restore makes the cache from what was saved.
func (r *Relay) restore(s *saved) error {
	resources := make([]*wire.Resource, len(s.Resources))
	for i, x := range s.Resources {
		resources[i] = r.pool.resource(x.Type, x.Name, x.Body)
	}
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
	n := &name{relay: r, locators: r.locatorsFor(by), key: nameKey{from.Type, from.Name, by.client()}, questions: map[string]*question{}, batch: 1}
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
	for _, q := range from.Questions {
		p := server.ParametersOf(q.Parameters)
		n.questions[p.Key] = &question{name: n, parameters: p, asked: true, verdict: q.Verdict, used: r.clock.Load()}
	}
	n.countPending()
	r.asked += len(n.questions)
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
		of.all, of.allAnswered = saved.All, saved.AllAnswered
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
