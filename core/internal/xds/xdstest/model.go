package xdstest

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// initialFetch is how long an Envoy's cluster waits for its endpoints.
const initialFetch = 15 * time.Second

// A Model is a client that asks for what the resources that it holds refer to, in the order of a
// real [Program]. It is written from the programs' documentation and reports, and shares nothing
// with the server. Connect and Close are called by one goroutine; the others are safe.
type Model struct {
	Program Program
	ID      string
	// Metadata is sent with the node. Drain is the drain time of an Envoy; 0: nothing drains.
	Metadata *structpb.Struct
	Drain    time.Duration
	// Reject returns why the program does not accept a resource, or an empty text. It then applies
	// the other resources of the response, and NACKs it. Nil: it accepts all.
	Reject   func(Held) string
	services []string // the listeners that a gRPC client asks for
	rand     *rand.Rand
	cancel   context.CancelFunc
	done     chan struct{}
	streams  int       // that were begun
	began    time.Time // the last one

	mu       sync.Mutex
	send     func(modelRequest) // of the last stream; nil: there was none
	first    bool               // no request was sent on the stream
	types    [wire.NumTypes]modelType
	warming  map[string]time.Time // clusters, since when
	heldACK  bool                 // of clusters: it waits until they are warm
	draining []draining           // what replaced and removed listeners refer to
	unfilled map[string]string    // clusters that became active without new endpoints; their bodies
	problems []string
	early    []string // problems, see Forgive
	seen     map[Seen]bool
	lost     map[Reference]bool // of a wildcard
}

// Seen is a resource that a model has held.
type Seen struct {
	Type       wire.Type
	Name, Body string
}

// draining is what a listener refers to whose connections drain.
type draining struct {
	references []Reference
	until      time.Time
	stream     int
}

// modelType is what a model has in one type.
type modelType struct {
	asked     bool // a request was sent on this stream
	names     map[string]bool
	held      map[string]Held
	resumed   map[string]bool // names that were held when the stream began, and were not sent again
	rejected  map[string]bool // names whose last content was rejected
	waits     map[string]bool // names, or the wildcard, that were UNAVAILABLE in the last response
	version   string          // of the last response
	nonce     string
	responses int
	answered  time.Time // when the first response came
	ignored   bool      // the last response
	replaced  bool      // by the last response: something that was held
}

// modelRequest is a request in both protocols.
type modelRequest struct {
	t                      wire.Type
	subscribe, unsubscribe []string
	nonce                  string            // delta: of the response that is answered
	nack                   string            // why it is rejected; empty: it is not
	initial                map[string]string // delta: versions
}

// NewModel returns a model without a stream. Its random choices follow the seed.
func NewModel(p Program, id string, seed uint64, services ...string) *Model {
	m := &Model{Program: p, ID: id, services: services, rand: rand.New(rand.NewPCG(seed, 7)),
		warming: map[string]time.Time{}, unfilled: map[string]string{}, seen: map[Seen]bool{}, lost: map[Reference]bool{}}
	for t := range m.types {
		m.types[t] = modelType{names: map[string]bool{}, held: map[string]Held{}, rejected: map[string]bool{}}
	}
	return m
}

// Connect ends the stream, if there is one, and begins another one.
func (m *Model) Connect(conn grpc.ClientConnInterface) error {
	m.Close()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := open(ctx, conn, !m.Program.Delta)
	if err != nil {
		cancel()
		return err
	}
	m.cancel, m.done = cancel, make(chan struct{})
	m.mu.Lock()
	m.send = func(r modelRequest) { // receive returns the error
		switch s := s.(type) {
		case deltaStream:
			_ = s.Send(m.deltaRequest(r))
		case stateStream:
			_ = s.Send(m.stateRequest(r))
		}
	}
	m.begin()
	m.mu.Unlock()
	go m.run(ctx, s.receive)
	return nil
}

// Done returns a channel that is closed when the stream has ended. It is called by the goroutine of
// Connect.
func (m *Model) Done() <-chan struct{} { return m.done }

// Close ends the stream and waits for it.
func (m *Model) Close() {
	if m.cancel != nil {
		m.cancel()
		<-m.done
		m.cancel = nil
	}
}

// Call makes a gRPC client call other services. A channel that is idle drops what it holds, and asks
// for it again with its next call.
func (m *Model) Call(services ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.services = services
	names := map[string]bool{}
	for _, name := range services {
		names[name] = true
	}
	if m.send != nil {
		m.rename(wire.ListenerType, names)
		m.follow()
	}
}

// begin sends the first requests of a stream.
func (m *Model) begin() {
	m.first, m.heldACK = true, false
	m.streams++
	m.began = time.Now()
	order := []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType, wire.ExtensionType}
	if m.Program.GRPC {
		m.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, name := range m.services {
			m.types[wire.ListenerType].names[name] = true
		}
	}
	for t := range m.types {
		of := &m.types[t]
		of.asked, of.nonce, of.responses, of.ignored, of.resumed, of.waits = false, "", 0, false, map[string]bool{}, nil
		for name := range of.held {
			of.resumed[name] = true
		}
	}
	for _, t := range order {
		of := &m.types[t]
		switch {
		case m.wildcard(t) && t == wire.ListenerType && of.version == "" && len(of.held) == 0, t == wire.ClusterType && len(m.warming) > 0:
			// It is sent when the clusters are warm.
		case m.wildcard(t) || len(of.names) > 0:
			m.ask(t)
		}
	}
}

// ask sends the first request of a type on a stream.
func (m *Model) ask(t wire.Type) {
	of := &m.types[t]
	of.asked = true
	r := modelRequest{t: t, subscribe: slices.Sorted(maps.Keys(of.names)), initial: map[string]string{}}
	for name, h := range of.held {
		r.initial[name] = h.Version
	}
	m.send(r)
}

// wildcard reports whether the model asks for all of a type.
func (m *Model) wildcard(t wire.Type) bool {
	return !m.Program.GRPC && (t == wire.ClusterType || t == wire.ListenerType)
}

func (m *Model) node() *corev3.Node {
	if !m.first {
		return nil
	}
	m.first = false
	return &corev3.Node{Id: m.ID, UserAgentName: m.Program.UserAgent, Metadata: m.Metadata,
		UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: m.Program.Version}}
}

func (m *Model) deltaRequest(r modelRequest) *discoveryv3.DeltaDiscoveryRequest {
	return &discoveryv3.DeltaDiscoveryRequest{Node: m.node(), TypeUrl: r.t.URL(), ResponseNonce: r.nonce, InitialResourceVersions: r.initial,
		ResourceNamesSubscribe: r.subscribe, ResourceNamesUnsubscribe: r.unsubscribe, ErrorDetail: detail(r.nack)}
}

func (m *Model) stateRequest(r modelRequest) *discoveryv3.DiscoveryRequest {
	of := &m.types[r.t]
	return &discoveryv3.DiscoveryRequest{Node: m.node(), TypeUrl: r.t.URL(), ResponseNonce: of.nonce, VersionInfo: of.version,
		ResourceNames: slices.Sorted(maps.Keys(of.names)), ErrorDetail: detail(r.nack)}
}

// run reads until the stream ends.
func (m *Model) run(ctx context.Context, receive func() (Response, string, error)) {
	defer close(m.done)
	type received struct {
		Response
		version string
	}
	responses := make(chan received)
	go func() {
		defer close(responses)
		for {
			r, version, err := receive()
			if err != nil {
				return
			}
			select {
			case responses <- received{r, version}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case r, ok := <-responses:
			if !ok {
				return
			}
			m.mu.Lock()
			m.accept(r.Response, r.version)
		case <-m.timeout():
			m.mu.Lock()
			m.giveUp()
			m.follow()
		}
		m.whenWarm()
		m.mu.Unlock()
	}
}

// timeout returns a channel that delivers when the first warming cluster has waited enough, or the
// first listener has drained.
func (m *Model) timeout() <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first time.Time
	at := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	for _, since := range m.warming {
		at(since.Add(initialFetch))
	}
	for _, d := range m.draining {
		at(d.until)
	}
	if first.IsZero() {
		return nil
	}
	return time.After(time.Until(first))
}
