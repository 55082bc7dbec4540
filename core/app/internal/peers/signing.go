package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"runtime"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"golang.org/x/sync/errgroup"
)

// signing compares the certificates of all proxies with their floor: a new key and a signature
// for each. It is what an edit with certificates cannot do without, and go-control-plane does not do.
func signing(subject string, services int) comparison {
	return comparison{
		subject: subject, label: "sign", work: "a new certificate for each proxy, on all processors", input: grouped(2*services) + " proxies", source: shape.MeshPerfSource, unit: "s",
		note:    "not a peer, but the floor: a new key of P-256 and a signature of the authority, and no certificate. It is in meshmatch's time of the edits with certificates, and not in go-control-plane's",
		prepare: func(_ context.Context, s size) (*contest, error) { return signAll(2 * s.pick(services, 25)) },
	}
}

func signAll(proxies int) (*contest, error) {
	now := time.Now()
	authority, err := ca.Generate("mesh", now)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signer := func(name string, sign func(i int) error) contender {
		all := func() error {
			var group errgroup.Group
			workers := runtime.GOMAXPROCS(0)
			for w := range workers {
				group.Go(func() error {
					for i := w; i < proxies; i += workers {
						if err := sign(i); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return group.Wait()
		}
		return contender{
			name:    name,
			answer:  func() (string, error) { return fmt.Sprintf("%d signatures", proxies), all() },
			operate: repeat(all),
		}
	}
	return &contest{contenders: []contender{
		signer(meshmatch, func(i int) error {
			_, err := authority.Issue(fmt.Sprintf("spiffe://mesh/sa/%d", i), ca.DefaultLifetime, now)
			return err
		}),
		signer("crypto/ecdsa", func(i int) error {
			if _, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
				return err
			}
			digest := sha256.Sum256(fmt.Append(nil, i))
			_, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
			return err
		}),
	}}, nil
}
