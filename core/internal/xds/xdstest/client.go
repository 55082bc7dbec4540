package xdstest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Options are the options of a client.
type Options struct {
	// StateOfTheWorld selects the protocol; the other one is delta.
	StateOfTheWorld bool
	Node            *corev3.Node // sent in the first request; may be nil
	// Reject returns why the client does not accept a resource, or an empty text. The
	// client then applies the other resources of the response and NACKs it, as Envoy
	// does. It is called by one goroutine at a time.
	Reject func(Held) string
	// Resume is a client that has ended, and that this one continues: with its
	// subscriptions and the versions of what it holds.
	Resume *Client
	// Forget makes [Client.Responses] return nothing, for clients that get many.
	Forget bool
}

// A Client is a client of an ADS server. Its methods are safe for concurrent use.
type Client struct {
	options Options
	stream  stream
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed at each change of what follows
	types   [wire.NumTypes]*held
	sentAny bool
	frozen  chan struct{} // closed when the client may read again, nil if it may
	err     error         // of the stream
	log     []Response
	recent  []fmt.Stringer // of this client and of those that it resumes
}

// A Response is one that the client has got.
type Response struct {
	Type      wire.Type
	Nonce     string
	Resources []Held
	Removed   []string // names
	// RemovedVariants are those with constraints, and those without a body and
	// constraints that do not exist.
	RemovedVariants []Held
	Errors          map[string]codes.Code // by name
}

// String returns the names in a response, each with the hash of its content.
func (r Response) String() string {
	var held []string
	for _, h := range slices.Concat(r.Resources, r.RemovedVariants) {
		held = append(held, fmt.Sprintf("%s located=%t %.4x", h.Name, h.Located, sha256.Sum256([]byte(h.Body+h.Constraints))))
	}
	return fmt.Sprintf("response of %s, nonce %q: %q, removed %q, errors %v", r.Type.URL(), r.Nonce, held, r.Removed, r.Errors)
}

// stream is what the protocols have in common.
type stream interface {
	// request sends a request. The client holds its lock.
	request(c *Client, t wire.Type, r change) error
	// receive waits for a response.
	receive() (Response, string, error)
	// nonce waits for a response, and returns its nonce alone.
	nonce() (string, error)
}

// change is what a request changes.
type change struct {
	subscribe, unsubscribe                 []string
	subscribeLocators, unsubscribeLocators []Locator
	ack                                    string // nonce
	nack                                   string // the message
	first                                  bool
}

// New starts a client. It ends with the context, with Close, or with its stream.
func New(ctx context.Context, conn grpc.ClientConnInterface, options Options) (*Client, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &Client{options: options, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	var err error
	if c.stream, err = open(ctx, conn, options.StateOfTheWorld); err != nil {
		cancel()
		return nil, err
	}
	if old := options.Resume; old != nil {
		if err := c.resume(old); err != nil {
			cancel()
			return nil, err
		}
	}
	go c.run()
	return c, nil
}

// resume subscribes what another client subscribes, and takes what it holds.
func (c *Client) resume(old *Client) error {
	old.mu.Lock()
	defer old.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for t, h := range old.types {
		if h == nil {
			continue
		}
		h.nonce, h.resumed, h.explicit = "", true, false
		h.old = map[string]bool{}
		for key := range h.located {
			h.old[key] = true
		}
		c.types[t] = h
		c.recent = old.recent
		r := change{first: true}
		if h.wildcard && (len(h.names) > 0 || len(h.locators) > 0) {
			r.subscribe = append(r.subscribe, "*")
		}
		for name := range h.names {
			r.subscribe = append(r.subscribe, name)
		}
		slices.Sort(r.subscribe)
		for _, l := range h.locators {
			r.subscribeLocators = append(r.subscribeLocators, l)
		}
		if err := c.stream.request(c, wire.Type(t), r); err != nil {
			return err
		}
		h.resumed = false
	}
	return nil
}

// Close ends the stream and waits for it.
func (c *Client) Close() {
	c.cancel()
	c.Thaw()
	<-c.done
}

// Wildcard subscribes all resources of a type, by a request without names.
func (c *Client) Wildcard(t wire.Type) error { return c.change(t, change{}) }

// Subscribe subscribes to names. The name "*" is the wildcard.
func (c *Client) Subscribe(t wire.Type, names ...string) error {
	return c.change(t, change{subscribe: names})
}

// Unsubscribe ends subscriptions of names.
func (c *Client) Unsubscribe(t wire.Type, names ...string) error {
	return c.change(t, change{unsubscribe: names})
}

// SubscribeLocators subscribes names with dynamic parameters.
func (c *Client) SubscribeLocators(t wire.Type, locators ...Locator) error {
	return c.change(t, change{subscribeLocators: locators})
}

// UnsubscribeLocators ends subscriptions of locators.
func (c *Client) UnsubscribeLocators(t wire.Type, locators ...Locator) error {
	return c.change(t, change{unsubscribeLocators: locators})
}

func (c *Client) change(t wire.Type, r change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.types[t]
	if h == nil {
		h, r.first = newHeld(), true
		c.types[t] = h
		h.wildcard = len(r.subscribe)+len(r.subscribeLocators) == 0
	}
	h.apply(r)
	return c.stream.request(c, t, r)
}

// Freeze stops reading. At most one response that is being read is still applied.
func (c *Client) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen == nil {
		c.frozen = make(chan struct{})
	}
}

// Thaw reads again.
func (c *Client) Thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen != nil {
		close(c.frozen)
		c.frozen = nil
	}
}

// run reads until the stream ends.
func (c *Client) run() {
	defer close(c.done)
	for {
		c.mu.Lock()
		frozen := c.frozen
		c.mu.Unlock()
		if frozen != nil {
			<-frozen
			continue
		}
		response, version, err := c.stream.receive()
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else {
			c.remember(response)
			c.accept(response, version)
		}
		close(c.changed)
		c.changed = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// accept applies a response and answers it.
func (c *Client) accept(r Response, version string) {
	h := c.types[r.Type]
	if h == nil {
		return
	}
	if !c.options.Forget {
		c.log = append(c.log, r)
	}
	var words []string
	accepted := r
	accepted.Resources = nil
	for _, resource := range r.Resources {
		if c.options.Reject != nil {
			if why := c.options.Reject(resource); why != "" {
				words = append(words, resource.Name+": "+why)
				continue
			}
		}
		accepted.Resources = append(accepted.Resources, resource)
	}
	h.hold(accepted, c.options.StateOfTheWorld, r)
	h.nonce = r.Nonce
	if len(words) == 0 {
		h.version = version
	}
	if err := c.stream.request(c, r.Type, change{ack: r.Nonce, nack: strings.Join(words, "; ")}); err != nil && err != io.EOF {
		c.err = err // io.EOF: the stream has ended, and the next receive returns why
	}
}

// Named returns what the client holds of a type by name.
func (c *Client) Named(t wire.Type) map[string]Held {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.types[t]; h != nil {
		return maps.Clone(h.named)
	}
	return nil
}

// Located returns the variant that the client holds for a locator.
func (c *Client) Located(t wire.Type, l Locator) (Held, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.types[t] == nil {
		return Held{}, false
	}
	r, ok := c.types[t].located[l.key()]
	return r, ok
}

// Error returns the code of the last error for a name, and false if there was none
// since the client got the resource.
func (c *Client) Error(t wire.Type, name string) (codes.Code, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.types[t] == nil {
		return 0, false
	}
	code, ok := c.types[t].errors[name]
	return code, ok
}

// Responses returns the responses that the client has got, in their order.
func (c *Client) Responses() []Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

// maxRecent is how many messages [Client.Recent] returns.
const maxRecent = 100

// remember keeps a message for [Client.Recent]. The client holds its lock.
func (c *Client) remember(m fmt.Stringer) {
	c.recent = append(c.recent, m)
	if len(c.recent) == 2*maxRecent {
		c.recent = slices.Clone(c.recent[maxRecent:])
	}
}

// Recent returns the last requests and responses, each as a line, those of the streams that the client
// has resumed too.
func (c *Client) Recent() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines strings.Builder
	for _, m := range c.recent[max(0, len(c.recent)-maxRecent):] {
		text := m.String()
		fmt.Fprintln(&lines, text[:min(len(text), 1000)])
	}
	return lines.String()
}

// Err returns the error of the stream, nil while it lives.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Wait waits until a condition holds, or the context ends, and reports whether it holds.
// It checks after each response. The condition may call methods of the client.
func (c *Client) Wait(ctx context.Context, condition func() bool) bool {
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if condition() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return condition()
		}
	}
}
