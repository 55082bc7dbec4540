package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Options are the options of a [Store].
type Options struct {
	Address Address
	// TLS is the configuration of a client, for an address with TLS.
	TLS *tls.Config
	// User and Password authenticate the client; empty: it is not authenticated. They need
	// an address that is safe.
	User, Password string
	// Client is used instead of one that connects to the address; nil: it connects.
	Client *clientv3.Client
}

// ErrUnsafe indicates that secrets would be sent over a network without TLS.
var ErrUnsafe = errors.New("secrets are sent to a store over TLS or loopback only; use etcds://")

// Store is the resources below a prefix of etcd. It is safe for concurrent use.
type Store struct {
	address Address
	options Options

	mu          sync.Mutex
	client      *clientv3.Client // nil until it is used
	history     history
	witnesses   witnesses
	connections connections
}

// history is what shows that a cluster is another one, or older, than before.
type history struct{ cluster, term uint64 }

// New returns a store. It does not connect yet.
func New(options Options) (*Store, error) {
	if options.User != "" && !options.Address.Safe() {
		return nil, fmt.Errorf("%s: %w", &options.Address, ErrUnsafe)
	}
	return &Store{address: options.Address, options: options}, nil
}

// String implements [source.Store].
func (s *Store) String() string { return s.address.String() }

// Close closes the connections. The store may be used again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil
	}
	err := s.client.Close()
	s.client = nil
	return err
}

const (
	// timeout is the limit of one request.
	timeout = 3 * time.Second
	// pulse is the interval in which a state is confirmed.
	pulse = 500 * time.Millisecond
	// pageSize is the number of keys of a page of a list.
	pageSize = 1000
)

// connection returns the client. It does not wait for a connection, except to
// authenticate.
func (s *Store) connection() (*clientv3.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	if s.options.Client != nil {
		return s.options.Client, nil
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: s.address.urls(), TLS: s.options.TLS, Username: s.options.User, Password: s.options.Password,
		DialTimeout: timeout, DialKeepAliveTime: 6 * time.Second, DialKeepAliveTimeout: timeout,
		MaxUnaryRetries: 3, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.5, MaxDelay: 2 * time.Second},
			MinConnectTimeout: timeout,
		}), grpc.WithStatsHandler(&s.connections)},
	})
	if err != nil {
		return nil, s.readable(err) // of a user that is authenticated
	}
	s.client = client
	return client, nil
}

// key returns a key with the prefix.
func (s *Store) key(name string) string { return s.address.Prefix + "/" + name }

// get reads a range of keys below the prefix.
func (s *Store) get(ctx context.Context, from string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	client, err := s.connection()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := client.Get(ctx, from, options...)
	return response, s.readable(err)
}
