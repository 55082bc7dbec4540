package etcd

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/resource"
)

// CAs keeps generated CAs below a prefix of its own. It implements [ca.Shared]
// (SPEC 14.4).
//
// [ca.Shared]: https://pkg.go.dev/github.com/meshmatch/meshmatch/core/identity/ca#Shared
type CAs struct {
	store  *Store
	prefix string
}

// CAs returns the CAs below a prefix; empty: the prefix of the store with -ca. It must differ
// from the prefix of the resources.
func (s *Store) CAs(prefix string) (*CAs, error) {
	if prefix = strings.Trim(prefix, "/"); prefix == "" {
		prefix = s.address.Prefix + "-ca"
	}
	if own := s.address.Prefix; prefix == own || strings.HasPrefix(prefix, own+"/") || strings.HasPrefix(own, prefix+"/") {
		return nil, fmt.Errorf("the prefix %q of CAs may not contain resources, nor be among those of %q", prefix, own)
	}
	return &CAs{s, prefix}, nil
}

// Once implements [ca.Shared]. The text is written by one transaction, which fails if another
// server has written one.
func (c *CAs) Once(id resource.ID, generate func() ([]byte, error)) ([]byte, error) {
	if !c.store.address.Safe() {
		return nil, fmt.Errorf("the CA is not kept in %s: %w", c.store, ErrUnsafe)
	}
	key := c.prefix + "/" + Key(id)
	response, err := c.store.get(context.Background(), key)
	if err != nil {
		return nil, fmt.Errorf("the CA cannot be read from %s: %w", c.store, err)
	}
	if len(response.Kvs) == 1 {
		return response.Kvs[0].Value, nil
	}
	text, err := generate()
	if err != nil {
		return nil, err
	}
	client, err := c.store.connection()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	written, err := client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, string(text))).Else(clientv3.OpGet(key)).Commit()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the CA cannot be written to %s: %w", c.store, c.store.readable(err))
	case written.Succeeded:
		return text, nil
	}
	if kvs := written.Responses[0].GetResponseRange().Kvs; len(kvs) == 1 {
		return kvs[0].Value, nil
	}
	return nil, fmt.Errorf("the CA in %s was deleted while it was read", c.store)
}
