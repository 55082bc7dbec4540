package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A proxy is a client of a delta ADS stream. It ACKs each response, and waits for the
// resources that it is told to expect.
type proxy struct {
	stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	send   sync.Mutex

	mu          sync.Mutex
	missing     map[resourceKey][]byte
	arrived     func() // called when nothing is missing, and the ACK is sent
	certificate []byte // the last one; nil: none
}

// A resourceKey identifies a resource.
type resourceKey struct{ typeURL, name string }

// content is the resources of a snapshot. A certificate that is not signed yet has the body
// nil: it must differ from the previous one.
type content map[resourceKey][]byte

// certificateKey identifies the certificate of a proxy.
var certificateKey = resourceKey{wire.SecretType.URL(), message.IdentitySecret}

// unsigned returns the content without the body of the certificate.
func (c content) unsigned() content {
	if _, ok := c[certificateKey]; !ok {
		return c
	}
	c = maps.Clone(c)
	c[certificateKey] = nil
	return c
}

// A contentReader makes contents. Resources that snapshots share are one slice in them.
type contentReader map[*wire.Resource][]byte

func (c contentReader) read(s *wire.Snapshot) content {
	all := content{}
	for _, resources := range s {
		for _, r := range resources.Listed {
			body, ok := c[r]
			if !ok {
				body = r.Append(nil)
				c[r] = body
			}
			all[resourceKey{r.Type.URL(), r.Name}] = body
		}
	}
	return all
}

// changed returns the resources of c that before does not have with the same content.
func (c content) changed(before content) content {
	all := content{}
	for key, body := range c {
		if !bytes.Equal(before[key], body) {
			all[key] = body
		}
	}
	return all
}

// names are the names of resources by their type.
type names map[string][]string

// namesOf returns the names of all resources of some contents.
func namesOf(contents ...content) names {
	all, seen := names{}, map[resourceKey]bool{}
	for _, c := range contents {
		for key := range c {
			if !seen[key] {
				seen[key] = true
				all[key.typeURL] = append(all[key.typeURL], key.name)
			}
		}
	}
	return all
}

// expect makes the proxy wait for resources with these contents.
func (p *proxy) expect(c content, arrived func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing = make(map[resourceKey][]byte, len(c))
	for key, body := range c {
		p.missing[key] = body
	}
	if p.arrived = arrived; len(p.missing) == 0 {
		arrived()
	}
}

// run receives until the stream ends, and reports why if that was not asked for.
func (p *proxy) run(ended func(error)) {
	for {
		response, err := p.stream.Recv()
		if err != nil {
			ended(err)
			return
		}
		p.mu.Lock()
		waited := len(p.missing) > 0
		for _, r := range response.GetResources() {
			key := resourceKey{response.GetTypeUrl(), r.GetName()}
			body := r.GetResource().GetValue()
			if want, ok := p.missing[key]; ok && (bytes.Equal(want, body) || want == nil && !bytes.Equal(p.certificate, body)) {
				delete(p.missing, key)
			}
			if key == certificateKey {
				p.certificate = body
			}
		}
		complete, arrived := waited && len(p.missing) == 0, p.arrived
		p.mu.Unlock()
		p.request(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: response.GetTypeUrl(), ResponseNonce: response.GetNonce()})
		if complete {
			arrived()
		}
	}
}

func (p *proxy) request(r *discoveryv3.DeltaDiscoveryRequest) {
	p.send.Lock()
	defer p.send.Unlock()
	_ = p.stream.Send(r) // an error ends the stream, and run with it
}

// A management is a server with proxies on in-memory connections.
type management struct {
	server  *grpc.Server
	listen  *bufconn.Listener
	cancel  context.CancelFunc
	ctx     context.Context
	conns   []*grpc.ClientConn
	proxies []*proxy
	failed  chan error // the first stream that has ended
}

func newManagement(options []grpc.ServerOption, register func(ctx context.Context, s *grpc.Server)) *management {
	ctx, cancel := context.WithCancel(context.Background())
	m := &management{server: grpc.NewServer(options...), listen: bufconn.Listen(64 << 10), ctx: ctx, cancel: cancel, failed: make(chan error, 1)}
	register(ctx, m.server)
	go func() { _ = m.server.Serve(m.listen) }()
	return m
}

// ended notes that a stream has ended.
func (m *management) ended(err error) {
	if m.ctx.Err() != nil {
		return // the server is closed
	}
	select {
	case m.failed <- err:
	default:
	}
}

// close also closes the connections: they would keep the server, and what it serves, in memory.
func (m *management) close() {
	m.cancel()
	for _, conn := range m.conns {
		_ = conn.Close()
	}
	m.server.Stop()
}

// streamsOfConnection is how many proxies share a connection.
const streamsOfConnection = 50

// connect starts a stream for each node, which subscribes all types: clusters and listeners
// by wildcard, the others by the given names. It waits until each has all of its resources, and
// returns the time of that in seconds.
func (m *management) connect(nodes []string, contents []content, names []names) (float64, error) {
	var conn *grpc.ClientConn
	return m.await(func(i int) content { return contents[i] }, len(nodes), func() error {
		for i, node := range nodes {
			if i%streamsOfConnection == 0 {
				var err error
				conn, err = grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
					grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return m.listen.DialContext(ctx) }))
				if err != nil {
					return err
				}
				m.conns = append(m.conns, conn)
			}
			stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(m.ctx)
			if err != nil {
				return err
			}
			p := m.proxies[i]
			p.stream = stream
			go p.run(m.ended)
			p.subscribe(node, names[i])
		}
		return nil
	})
}

// subscribe sends the first request for each type.
func (p *proxy) subscribe(node string, names names) {
	for t := range wire.Type(wire.NumTypes) {
		r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t.URL(), Node: &corev3.Node{Id: node, UserAgentName: "envoy"}}
		if t != wire.ClusterType && t != wire.ListenerType {
			if r.ResourceNamesSubscribe = names[t.URL()]; len(r.ResourceNamesSubscribe) == 0 {
				continue // an empty list would be a wildcard
			}
		}
		p.request(r)
	}
}

// patience is how long 2,000 proxies together may take to get what they expect.
const patience = time.Minute

// await makes each proxy expect something, does the work, and waits until all have it. It returns
// the time from the start of the work in seconds.
func (m *management) await(expect func(i int) content, proxies int, work func() error) (float64, error) {
	for len(m.proxies) < proxies {
		m.proxies = append(m.proxies, &proxy{})
	}
	var group sync.WaitGroup
	group.Add(proxies)
	for i, p := range m.proxies {
		p.expect(expect(i), group.Done)
	}
	start := time.Now()
	if err := work(); err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return time.Since(start).Seconds(), nil
	case err := <-m.failed:
		return 0, fmt.Errorf("a stream has ended: %w", err)
	case <-time.After(patience * time.Duration(1+proxies/2_000)):
		return 0, m.late()
	}
}

// late reports what is still missing when there is no more patience.
func (m *management) late() error {
	late, example := 0, resourceKey{}
	for _, p := range m.proxies {
		p.mu.Lock()
		for key := range p.missing {
			late, example = late+1, key
		}
		p.mu.Unlock()
	}
	return fmt.Errorf("%d resources have not arrived in time, such as %s of %s", late, example.name, example.typeURL)
}
