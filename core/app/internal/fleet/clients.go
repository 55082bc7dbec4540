package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/xds/streams"
)

// streamsOfConnection is how many proxies share a connection: each real one has its own.
const streamsOfConnection = 100

// A clientele is the proxies of a mesh and where they are connected.
type clientele struct {
	mesh    *mesh
	proxies []*streams.DeltaStream
	sums    []uint64 // what each had at the end of the last step
	groups  []*group
	failed  chan error // the first stream that has ended
}

// A group is the proxies of one site.
type group struct {
	at      *site
	members []int
	cancel  context.CancelFunc
	conns   []*grpc.ClientConn
}

func newClientele(m *mesh) *clientele {
	return &clientele{mesh: m, proxies: make([]*streams.DeltaStream, len(m.nodes)), sums: make([]uint64, len(m.nodes)), failed: make(chan error, 1)}
}

// divide gives each site the same number of proxies, which are neighbours in the graph of the
// mesh, as the clients of a zone are.
func (c *clientele) divide(sites []*site) {
	c.groups = nil
	for k, at := range sites {
		g := &group{at: at}
		for i := k * len(c.proxies) / len(sites); i < (k+1)*len(c.proxies)/len(sites); i++ {
			g.members = append(g.members, i)
		}
		c.groups = append(c.groups, g)
	}
}

// connect starts the streams of a group, on all of its connections at once.
func (c *clientele) connect(g *group, answers []answer) error {
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	for range (len(g.members) + streamsOfConnection - 1) / streamsOfConnection {
		conn, err := grpc.NewClient(address, g.at.dialing()...)
		if err != nil {
			return err
		}
		g.conns = append(g.conns, conn)
	}
	var starting errgroup.Group
	clientRole.do(func() {
		for k, conn := range g.conns {
			starting.Go(func() error {
				for _, i := range g.members[k*streamsOfConnection : min((k+1)*streamsOfConnection, len(g.members))] {
					names := streams.NamesOf(answers[i].snapshot)
					p, err := streams.Start(ctx, conn, c.mesh.nodes[i], &names, c.fail)
					if err != nil {
						return err
					}
					c.proxies[i] = p
				}
				return nil
			})
		}
	})
	return starting.Wait()
}

func (c *clientele) fail(err error) {
	select {
	case c.failed <- fmt.Errorf("a stream has ended: %w", err):
	default:
	}
}

// disconnect ends the streams of a group, and waits for that.
func (c *clientele) disconnect(g *group) {
	if g.cancel == nil {
		return
	}
	g.cancel()
	for _, conn := range g.conns {
		_ = conn.Close()
	}
	for _, i := range g.members {
		if p := c.proxies[i]; p != nil {
			p.Wait()
			c.proxies[i] = nil
		}
	}
	g.cancel, g.conns = nil, nil
}

// close ends all streams.
func (c *clientele) close() {
	for _, g := range c.groups {
		c.disconnect(g)
	}
}

// A Step is what happens until all proxies have what they should have.
type Step struct {
	Name string `json:"name"`
	// Reached is the number of proxies that get something new.
	Reached int `json:"reached"`
	// Median and Last are the seconds until half of those that are reached have it, and all.
	Median    float64 `json:"medianSeconds"`
	Last      float64 `json:"lastSeconds"`
	Responses int     `json:"responses"` // that these get
	Bytes     int     `json:"bytes"`
	CPU       CPU     `json:"cpuSeconds"`
}

const (
	poll = 100 * time.Millisecond
	// patience is how long nothing may arrive although something is missing.
	patience = time.Minute
)

// step does something and waits until each proxy has what the mesh gives it, and has accepted it.
// What the proxies got before is forgotten. Those that started is set for are new.
func (c *clientele) step(ctx context.Context, name string, started []int, source *site, do func() error) (s Step, err error) {
	isNew := make([]bool, len(c.proxies))
	for _, i := range started {
		isNew[i] = true
	}
	for _, p := range c.proxies {
		if p != nil {
			p.Reset()
		}
	}
	s.Name = name
	var m meter
	if err := m.start(); err != nil {
		return s, err
	}
	begin := time.Now()
	err = do()
	var answers []answer
	if err == nil {
		checkRole.do(func() { answers, err = c.await(ctx, source) })
	}
	s.CPU, err = m.stop(err)
	if err == nil {
		err = c.finish(&s, begin, answers, isNew)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// await waits until all proxies have what they should have, which it returns, and servers have the
// last ACKs. What proxies should have is computed when the source has served it.
func (c *clientele) await(ctx context.Context, source *site) (answers []answer, err error) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	before, since := -1, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case err := <-c.failed:
			return nil, err
		case <-tick.C:
		}
		if now := c.responses(); now != before {
			before, since = now, time.Now()
			continue
		}
		if source.converged(c.mesh.nodes) && answers == nil {
			if answers, err = c.mesh.answers(ctx); err != nil {
				return nil, err
			}
		}
		missing := c.missing(answers)
		if missing == 0 && c.converged() {
			return answers, nil
		}
		if time.Since(since) > patience {
			return nil, fmt.Errorf("%d of %d proxies do not have what the engine gives them, and nothing arrives", missing, len(c.proxies))
		}
	}
}

// responses returns how many responses have come in the step.
func (c *clientele) responses() (n int) {
	for _, p := range c.proxies {
		n += p.Got().Responses
	}
	return n
}

// missing returns how many proxies do not have what they should have; all, if that is not known.
func (c *clientele) missing(answers []answer) (n int) {
	if answers == nil {
		return len(c.proxies)
	}
	for i, p := range c.proxies {
		if p.Sum() != answers[i].sum {
			n++
		}
	}
	return n
}

// converged reports whether all proxies have accepted what their sites have sent.
func (c *clientele) converged() bool {
	return !slices.ContainsFunc(c.groups, func(g *group) bool {
		first, last := g.members[0], g.members[len(g.members)-1]
		return !g.at.converged(c.mesh.nodes[first : last+1])
	})
}

// finish computes the figures of a step, and notes what proxies have now.
func (c *clientele) finish(s *Step, begin time.Time, answers []answer, isNew []bool) error {
	var times []float64
	for i, p := range c.proxies {
		changed, got := isNew[i] || answers[i].sum != c.sums[i], p.Got()
		c.sums[i] = answers[i].sum
		switch {
		case changed:
			times = append(times, got.Last.Sub(begin).Seconds())
			s.Responses += got.Responses
			s.Bytes += got.Bytes
		case got.Responses > 0:
			return fmt.Errorf("%s: %s gets %d responses although nothing changes", s.Name, c.mesh.nodes[i], got.Responses)
		}
	}
	if s.Reached = len(times); s.Reached == 0 {
		return fmt.Errorf("%s: no proxy is reached", s.Name)
	}
	slices.Sort(times)
	s.Median, s.Last = times[len(times)/2], times[len(times)-1]
	return nil
}
