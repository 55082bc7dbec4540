package relay

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A State is the content of the relay at one time. It implements [server.PartialState].
type State struct {
	relay  *Relay
	names  shards[nameKey, *view]
	nodes  shards[nodeKey, *nodeView]
	grants shards[grantKey, server.Verdict]
	// expired is set when the upstream is lost for longer than Options.MaxAge.
	expired    bool
	superseded chan struct{}
}

// edits are the changes of the next State.
type edits struct {
	names  *shardsEdit[nameKey, *view]
	nodes  *shardsEdit[nodeKey, *nodeView]
	grants *shardsEdit[grantKey, server.Verdict]
}

func (s *State) edit() edits { return edits{s.names.edit(), s.nodes.edit(), s.grants.edit()} }

// Locate implements server.State, for what is known without a client.
func (s *State) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	if h := s.names.get(nameKey{t, name, programOf(node).client()}).choose(parameters); h != nil {
		return h.variant, true
	}
	return wire.Variant{}, false
}

// Node implements server.State, for a client without an identity.
func (s *State) Node(node *server.Node) (*wire.Snapshot, bool) {
	v := s.nodes.get(nodeKey{node.ID, "", node.UserAgent, node.Version})
	if v == nil || v.verdict != server.Found {
		return nil, false
	}
	return v.snapshot, true
}

// Answer implements server.PartialState.
func (s *State) Answer(client *server.Client, node *server.Node, t wire.Type, name string, p server.Parameters) (wire.Variant, server.Verdict) {
	switch {
	case s.expired:
		return wire.Variant{}, server.Unknown
	case s.relay.options.Mode == Nodes:
		return wire.Variant{}, server.Missing // the upstream has no variants
	}
	by := programOf(node)
	key := nameKey{t, name, by.client()}
	if verdict := s.allowed(client, by, key, p); verdict != server.Found {
		return wire.Variant{}, verdict
	}
	if h := s.names.get(key).choose(p.Values); h != nil {
		h.use(s.relay.clock.Load())
		return h.variant, server.Found
	}
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	return s.relay.subscribe(key, by, p)
}

// AnswerNode implements server.PartialState.
func (s *State) AnswerNode(client *server.Client, node *server.Node) (*wire.Snapshot, server.Verdict) {
	key := s.relay.nodeKey(client, node)
	v := s.nodes.get(key)
	node.Memo = &nodeMemo{key, v}
	if v == nil || s.expired {
		return nil, server.Unknown
	}
	return v.snapshot, v.verdict
}

// nodeMemo is the view from which a node was served.
type nodeMemo struct {
	key  nodeKey
	view *nodeView // nil: nothing was known
}

// Keeps is for [server.State]. All that changes what a node is served, its names too, makes
// another view of it.
func (s *State) Keeps(node *server.Node, before server.State) bool {
	last, ok := node.Memo.(*nodeMemo)
	if !ok || s.expired != before.(*State).expired {
		return false
	}
	if len(node.Parameters) > 0 && s.relay.options.Mode != Nodes {
		return false // its names are those of variants
	}
	return s.nodes.get(last.key) == last.view
}

// AnswerName implements server.PartialState.
func (s *State) AnswerName(client *server.Client, node *server.Node, t wire.Type, name string, p server.Parameters) (*wire.Resource, server.Verdict) {
	switch {
	case s.expired:
		return nil, server.Unknown
	case s.relay.hasLocator(node, t, name):
		v, verdict := s.Answer(client, node, t, name, p)
		return v.Resource, verdict
	case node.ID == "", t == wire.SecretType && (s.relay.options.NoSecrets || node.NoSecrets):
		return nil, server.Missing
	}
	key := s.relay.nodeKey(client, node)
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	verdict := s.relay.subscribeNode(key, node, t, name)
	// The resources of a wildcard are those of the state's snapshot, so this state serves it: if a
	// newer one did, the client would get an empty wildcard.
	if v := s.nodes.get(key); name == wildcard && v != nil && v.all[t] {
		return nil, server.Found
	}
	return nil, verdict
}

// hasLocator reports whether a name that a node requests is requested upstream by locator: it is
// one of an outbound (SPEC 11.4), and the node has parameters.
//
// Routes of a node with all clusters are its own: the order of clusters and routes is that
// of one stream, and a route must not come before its clusters. What gRPC gets has another form,
// which no parameter chooses, so its names are requested on the stream of its node.
func (r *Relay) hasLocator(node *server.Node, t wire.Type, name string) bool {
	if len(node.Parameters) == 0 || r.options.Mode == Nodes || name == "*" {
		return false
	}
	isGRPC := strings.HasPrefix(node.UserAgent, "gRPC")
	switch {
	case isGRPC && node.ID != "":
		return false
	case t == wire.SecretType, t == wire.ExtensionType, t == wire.RouteType && !isGRPC:
		return false
	}
	return !slices.ContainsFunc([]string{"inbound/", "local/", "outbound/", "prometheus/", "passthrough/"}, func(own string) bool { return strings.HasPrefix(name, own) })
}
