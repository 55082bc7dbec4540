package server_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An envoyModel is a model of an Envoy's delta ADS client, for clusters and their endpoints:
//
//	connect ──> CDS (wildcard) and EDS (names of its clusters) at once, with the versions it has
//	CDS: a cluster that is new or changed ──> warming ──(its endpoints come)──> active
//	                                             └──(15 s)──> active without endpoints: 503
//	     a new cluster ──> subscribe its endpoints;  a removed one ──> unsubscribe them
//	     the response is ACKed when no cluster of it warms
//	EDS: ACKed at once; it makes its cluster active, even if it removes the endpoints
//
// A changed cluster does not keep the endpoints of the old one (the EDS cache of Envoy is off, the
// default before 1.32): only a response that comes while it warms fills it. It is written from
// Envoy's documentation of xDS and of cluster warming, and shares nothing with the server.
type envoyModel struct {
	id     string
	cancel context.CancelFunc
	done   chan struct{}

	mu        sync.Mutex
	clusters  map[string]string // versions
	endpoints map[string]string
	warming   map[string]time.Time
	unfilled  []string // clusters that became active without endpoints
	responses map[string]int
}

func newEnvoyModel(id string) *envoyModel {
	return &envoyModel{id: id, clusters: map[string]string{}, endpoints: map[string]string{}, warming: map[string]time.Time{}}
}

// connect ends the stream, if there is one, and begins another.
func (e *envoyModel) connect(conn *grpc.ClientConn) error {
	e.close()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	if err != nil {
		cancel()
		return err
	}
	e.cancel, e.done = cancel, make(chan struct{})
	e.mu.Lock()
	e.responses = map[string]int{}
	clusters, endpoints := maps.Clone(e.clusters), maps.Clone(e.endpoints)
	e.mu.Unlock()
	requests := []*discoveryv3.DeltaDiscoveryRequest{
		{Node: node(e.id), TypeUrl: wire.ClusterType.URL(), InitialResourceVersions: clusters},
	}
	if len(clusters) > 0 {
		requests = append(requests, &discoveryv3.DeltaDiscoveryRequest{
			TypeUrl: wire.EndpointType.URL(), ResourceNamesSubscribe: slices.Sorted(maps.Keys(clusters)), InitialResourceVersions: endpoints,
		})
	}
	for _, r := range requests {
		if err := stream.Send(r); err != nil {
			cancel()
			return err
		}
	}
	go e.run(ctx, stream)
	return nil
}

func (e *envoyModel) close() {
	if e.cancel != nil {
		e.cancel()
		<-e.done
		e.cancel = nil
	}
}

func (e *envoyModel) run(ctx context.Context, stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient) {
	defer close(e.done)
	received := make(chan *discoveryv3.DeltaDiscoveryResponse)
	go func() {
		defer close(received)
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			received <- m
		}
	}()
	var held *discoveryv3.DeltaDiscoveryRequest // the ACK of clusters that warm
	for {
		var timeout <-chan time.Time
		if held != nil {
			timeout = time.After(time.Until(e.oldest().Add(15 * time.Second)))
		}
		select {
		case m, ok := <-received:
			if !ok {
				return
			}
			ack := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()}
			for _, r := range e.apply(m) {
				_ = stream.Send(r)
			}
			if m.GetTypeUrl() == wire.ClusterType.URL() {
				held = ack
			} else {
				_ = stream.Send(ack)
			}
		case <-timeout:
			e.giveUp()
		}
		if held != nil && e.isWarm() {
			_ = stream.Send(held)
			held = nil
		}
	}
}

// apply applies a response, and returns the requests that it leads to.
func (e *envoyModel) apply(m *discoveryv3.DeltaDiscoveryResponse) (requests []*discoveryv3.DeltaDiscoveryRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.responses[m.GetTypeUrl()]++
	if m.GetTypeUrl() == wire.EndpointType.URL() {
		for _, r := range m.GetResources() {
			if _, known := e.clusters[r.GetName()]; known {
				e.endpoints[r.GetName()] = r.GetVersion()
				delete(e.warming, r.GetName())
			}
		}
		for _, name := range m.GetRemovedResources() {
			delete(e.endpoints, name)
			delete(e.warming, name) // a cluster whose endpoints do not exist is active without them
		}
		return nil
	}
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL()}
	for _, c := range m.GetResources() {
		switch before, known := e.clusters[c.GetName()]; {
		case !known:
			r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, c.GetName())
		case before == c.GetVersion():
			continue
		}
		e.clusters[c.GetName()] = c.GetVersion()
		e.warming[c.GetName()] = time.Now()
	}
	for _, name := range m.GetRemovedResources() {
		if _, known := e.clusters[name]; known {
			delete(e.clusters, name)
			delete(e.endpoints, name)
			delete(e.warming, name)
			r.ResourceNamesUnsubscribe = append(r.ResourceNamesUnsubscribe, name)
		}
	}
	if len(r.ResourceNamesSubscribe)+len(r.ResourceNamesUnsubscribe) > 0 {
		requests = append(requests, r)
	}
	return requests
}

func (e *envoyModel) isWarm() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.warming) == 0
}

// oldest returns since when the first cluster warms.
func (e *envoyModel) oldest() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := time.Now()
	for _, since := range e.warming {
		if since.Before(first) {
			first = since
		}
	}
	return first
}

// giveUp makes the clusters active that have warmed for 15 s.
func (e *envoyModel) giveUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, since := range e.warming {
		if time.Since(since) >= 15*time.Second {
			delete(e.warming, name)
			e.unfilled = append(e.unfilled, name)
		}
	}
}
