package relay

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// ClientMetadata is the key of a node's metadata with the SPIFFE ID of the client that a
// relay speaks for (SPEC 16).
const ClientMetadata = "meshmatch.client"

// A nodeKey identifies a node. Clients with other identities are other nodes: the
// upstream decides for each of them. So are clients of other versions: they get other resources
// (SPEC 18.2).
type nodeKey struct{ id, identity, userAgent, version string }

// nodeKey returns the key of the node of a client.
func (r *Relay) nodeKey(client *server.Client, node *server.Node) nodeKey {
	return nodeKey{node.ID, r.identity(client), node.UserAgent, node.Version}
}

// identity returns the identity that the upstream decides about.
func (r *Relay) identity(client *server.Client) string {
	if r.options.Trusted(client) {
		return client.For
	}
	return client.Identity
}

const wildcard = "*"

// A nodeView is what is known of a node. It is immutable.
type nodeView struct {
	snapshot *wire.Snapshot
	verdict  server.Verdict
	all      [wire.NumTypes]bool // the wildcards whose resources are complete
}

// A node is the subscriptions and the resources of one node. It is guarded by
// Relay.mu, and is the owner of a session.
type node struct {
	relay   *Relay
	key     nodeKey
	message *corev3.Node
	types   [wire.NumTypes]nodeType
	view    *nodeView
	// none is set while the node waits: the upstream has no such dataplane, or, if denied is set too,
	// does not serve it to the client.
	none, denied bool
	used         int64 // when a client was last connected, as held.used
	session      *session
	stop         context.CancelFunc // ends the session; nil: there is none
}

// A nodeType is one type of a node.
type nodeType struct {
	all         bool // the wildcard is subscribed
	allReceived bool
	names       []nodeName     // sorted
	held        []heldResource // sorted by name
	begun       bool           // there was a request on the session
	fresh, gone []string       // of the next request
	// large is when the wildcard's resources came in a response that may have been split; 0 if
	// there is none.
	large int64
	// responded is when the upstream first responded in this type after the last request.
	responded int64
	silent    bool                     // tick has found what the silence after the last request or response means
	rejected  map[string]rejectedState // by name
}

// A nodeName is a name that a node subscribes to.
type nodeName struct {
	name    string
	verdict server.Verdict // Found is decided by what is held
}

// A heldResource is a resource of a node.
type heldResource struct {
	resource *wire.Resource
	version  string // as the upstream gave it
}

func compareHeld(h heldResource, name string) int { return strings.Compare(h.resource.Name, name) }
func compareName(n nodeName, name string) int     { return strings.Compare(n.name, name) }

// subscribeNode subscribes to a name of a node that a state does not have, and returns whether it
// is missing. For what is held, and for a wildcard, it returns Unknown: a newer state has them, so
// that a client gets resources of one state. It is called with r.mu.
func (r *Relay) subscribeNode(key nodeKey, from *server.Node, t wire.Type, name string) server.Verdict {
	n := r.nodes[key]
	if n == nil {
		n = &node{relay: r, key: key, message: nodeMessage(from, key.identity), view: new(nodeView)}
		r.nodes[key] = n
	}
	n.used = r.clock.Load()
	if n.stop == nil {
		r.startNode(n)
	}
	of := &n.types[t]
	if name == wildcard {
		if !of.all {
			of.all = true
			of.fresh = append(of.fresh, wildcard)
			n.session.wake()
		}
		return server.Unknown
	}
	if _, found := slices.BinarySearchFunc(of.held, name, compareHeld); found {
		return server.Unknown
	}
	at, found := slices.BinarySearchFunc(of.names, name, compareName)
	if !found {
		of.names = slices.Insert(of.names, at, nodeName{name: strings.Clone(name)})
		of.fresh = append(of.fresh, of.names[at].name)
		of.responded, of.silent = 0, false
		n.session.wake()
	}
	return of.names[at].verdict
}

// nodeMessage returns the node that is sent upstream.
func nodeMessage(from *server.Node, identity string) *corev3.Node {
	m := &corev3.Node{Id: from.ID, UserAgentName: from.UserAgent}
	if from.Message != nil {
		m = proto.Clone(from.Message).(*corev3.Node)
	}
	if m.Metadata != nil {
		delete(m.Metadata.Fields, ClientMetadata)
	}
	if identity != "" {
		if m.Metadata == nil {
			m.Metadata = &structpb.Struct{}
		}
		if m.Metadata.Fields == nil {
			m.Metadata.Fields = map[string]*structpb.Value{}
		}
		m.Metadata.Fields[ClientMetadata] = structpb.NewStringValue(identity)
	}
	return m
}

// node implements owner.
func (n *node) node() *corev3.Node { return n.message }

// begin implements owner.
func (n *node) begin(s *session) {
	n.session = s
	for t := range n.types {
		of := &n.types[t]
		of.begun, of.fresh, of.gone, of.large, of.responded, of.silent = false, nil, nil, 0, 0, false
		if of.all {
			of.fresh = append(of.fresh, wildcard)
		}
		for _, n := range of.names {
			of.fresh = append(of.fresh, n.name)
		}
	}
}

// requests implements owner.
func (n *node) requests() (requests []*discoveryv3.DeltaDiscoveryRequest) {
	for _, t := range subscribeOrder {
		of := &n.types[t]
		if len(of.fresh)+len(of.gone) == 0 {
			continue
		}
		r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t.URL(), ResourceNamesSubscribe: of.fresh, ResourceNamesUnsubscribe: of.gone}
		if !of.begun {
			if r.ResourceNamesUnsubscribe = nil; len(of.fresh) == 0 {
				of.gone = nil
				continue
			}
			if len(of.fresh) == 1 && of.fresh[0] == wildcard {
				r.ResourceNamesSubscribe = nil // every server supports this form
			}
			if len(of.held) > 0 {
				r.InitialResourceVersions = make(map[string]string, len(of.held))
				for _, h := range of.held {
					r.InitialResourceVersions[h.resource.Name] = h.version
				}
			}
		}
		of.begun, of.fresh, of.gone = true, nil, nil
		requests = append(requests, r)
	}
	return requests
}

// partBytes is the size from which on a response may be one of several parts.
const partBytes = 3 << 20

// apply implements owner.
func (n *node) apply(v *verified) (problems []string) {
	r, of := n.relay, &n.types[v.t]
	if !of.begun {
		return []string{"the type " + v.t.URL() + " was not requested"}
	}
	of.noteRejected(v, r.clock.Load())
	for _, x := range v.resources {
		_, subscribed := slices.BinarySearchFunc(of.names, x.resource.Name, compareName)
		if !subscribed && !of.all {
			continue // unsubscribed meanwhile
		}
		at, found := slices.BinarySearchFunc(of.held, x.resource.Name, compareHeld)
		if h := (heldResource{x.resource, x.version}); found {
			of.held[at] = h
		} else {
			of.held = slices.Insert(of.held, at, h)
		}
		of.setVerdict(x.resource.Name, server.Unknown)
		delete(of.rejected, x.resource.Name)
	}
	for _, name := range v.removed {
		of.held = slices.DeleteFunc(of.held, func(h heldResource) bool { return h.resource.Name == name })
		of.setVerdict(name, server.Missing)
		delete(of.rejected, name)
	}
	if len(v.resources) > 0 || of.all || !n.isWildcard() {
		n.none, n.denied = false, false
	}
	for name, code := range v.errors {
		if of.setVerdict(name, server.Missing); name == wildcard || code == codes.PermissionDenied || code == codes.Unavailable {
			n.none, n.denied = true, n.denied || code == codes.PermissionDenied
		}
	}
	// When a node that waits is there, the responses of its types come one after the other.
	if _, waits := v.errors[wildcard]; of.all && !of.allReceived && !waits {
		of.large = r.clock.Load()
		of.allReceived = v.size < partBytes
	}
	if of.responded == 0 {
		of.responded = r.clock.Load()
	}
	of.silent = false
	n.publish()
	return nil
}

// setVerdict records what is known of a subscribed name. What is held has no such record.
func (t *nodeType) setVerdict(name string, verdict server.Verdict) {
	if at, found := slices.BinarySearchFunc(t.names, name, compareName); found {
		t.names[at].verdict = verdict
	}
}

// publish makes the view of the node, which shares the slices of the previous one where they
// are equal.
func (n *node) publish() {
	snapshot, responded, any := new(wire.Snapshot), n.none, false
	for t := range n.types {
		of := &n.types[t]
		any = any || len(of.held) > 0
		responded = responded || of.allReceived || slices.ContainsFunc(of.names, func(name nodeName) bool { return name.verdict != server.Unknown })
		var before wire.Resources
		if n.view.snapshot != nil {
			before = n.view.snapshot[t]
		}
		list := before.Listed
		if len(list) == 0 {
			list = before.Named
		}
		if !slices.EqualFunc(of.held, list, func(h heldResource, r *wire.Resource) bool { return h.resource == r }) {
			list = make([]*wire.Resource, len(of.held))
			for i, h := range of.held {
				list[i] = h.resource
			}
		}
		if of.all {
			snapshot[t].Listed = list
		} else {
			snapshot[t].Named = list
		}
	}
	view := &nodeView{snapshot: snapshot}
	for t := range n.types {
		view.all[t] = n.types[t].allReceived || n.none
	}
	switch {
	case n.denied:
		view.verdict = server.Denied
	case any || responded && !n.none:
		view.verdict = server.Found
	case responded:
		view.verdict = server.Missing
	}
	n.view = view
	n.relay.edit.nodes.set(n.key, view)
	n.relay.edited = true
}

// isEmpty reports whether a node has no resources: there may be no such node, and any number of
// its kind.
func (n *node) isEmpty() bool {
	return !slices.ContainsFunc(n.types[:], func(t nodeType) bool { return len(t.held) > 0 })
}

// isWildcard reports whether a wildcard is subscribed. Then the responses to it decide whether the
// node waits, else those to names do: a name that is NOT_FOUND is one that a dataplane lacks.
func (n *node) isWildcard() bool {
	return slices.ContainsFunc(n.types[:], func(t nodeType) bool { return t.all })
}

// Times after which silence is taken for a response, in seconds.
const (
	// lastPart is the time without a further part after which a split response is complete.
	lastPart = 2
	// notFound is the time after which a name does not exist if the upstream responds to others
	// of the type: some servers do not respond to names that do not exist. Clients wait as long.
	notFound = 15
)

// tick is called every second with the time in seconds. It finds what silence means.
func (n *node) tick(now int64) {
	changed := false
	for t := range n.types {
		of := &n.types[t]
		if of.all && !of.allReceived && of.large != 0 && now-of.large >= lastPart {
			of.allReceived, changed = true, true
		}
		if of.silent || of.responded == 0 || now-of.responded < notFound {
			continue
		}
		of.silent = true
		for i := range of.names {
			name := &of.names[i]
			if _, held := slices.BinarySearchFunc(of.held, name.name, compareHeld); !held && name.verdict == server.Unknown {
				name.verdict, changed = server.Missing, true
			}
		}
	}
	if changed {
		n.publish()
	}
}

// keep drops the names that no stream of the node subscribes to. Wanted reports whether one
// does.
func (n *node) keep(wanted func(t wire.Type, name string) bool) {
	changed := false
	for i := range n.types {
		t, of := wire.Type(i), &n.types[i]
		dropped := map[string]bool{}
		for _, name := range of.names {
			if !wanted(t, name.name) {
				dropped[name.name] = true
			}
		}
		if len(dropped) == 0 {
			continue
		}
		of.names = slices.DeleteFunc(of.names, func(name nodeName) bool { return dropped[name.name] })
		of.fresh = slices.DeleteFunc(of.fresh, func(name string) bool { return dropped[name] })
		if !of.all {
			maps.DeleteFunc(of.rejected, func(name string, _ rejectedState) bool { return dropped[name] })
		}
		if of.begun {
			of.gone = slices.AppendSeq(of.gone, maps.Keys(dropped))
		}
		if !of.all {
			of.held = slices.DeleteFunc(of.held, func(h heldResource) bool { return dropped[h.resource.Name] })
		}
		changed = true // a stream that has subscribed to a name meanwhile subscribes again
	}
	if changed {
		n.publish()
	}
	n.session.wake()
}
