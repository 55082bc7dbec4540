package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// pusher puts the snapshots of views into a cache.
type pusher struct {
	cache   cachev3.SnapshotCache
	signer  *signer            // nil: no certificates are signed
	issued  map[string]*issued // by node
	builder *snapshot.Builder
	pushed  map[string]*snapshot.Snapshot // by node
	version int
	// messages has the message of each resource that a pushed snapshot has. Dataplanes share
	// resources: equal ones are one pointer, and become one message.
	messages map[*wire.Resource]types.Resource
}

func newPusher(cache cachev3.SnapshotCache) *pusher {
	return &pusher{
		cache: cache, builder: snapshot.NewBuilder(translators.All(), snapshot.Options{}),
		pushed: map[string]*snapshot.Snapshot{}, issued: map[string]*issued{}, messages: map[*wire.Resource]types.Resource{},
	}
}

// push puts the snapshots that changed into the cache, and returns the names of their
// dataplanes. A dataplane whose configuration is refused keeps the former one.
func (p *pusher) push(ctx context.Context, view *core.View, now time.Time) (names []string, refused error) {
	p.version++
	state := p.builder.At(view)
	next, used := map[string]*snapshot.Snapshot{}, map[*wire.Resource]types.Resource{}
	for _, d := range view.Dataplanes("default") {
		node, built := d.KRI(""), state.Snapshot(d, xds.Envoy)
		if faults := built.Refused(); len(faults) > 0 {
			refused = errors.Join(refused, fmt.Errorf("%s is not pushed: %s", d.Name, faults[0].Message))
			if built = p.pushed[node]; built == nil {
				continue
			}
		}
		next[node] = built
		byType, err := p.messagesOf(built, used)
		if err != nil {
			return names, err
		}
		renewed, err := p.certify(node, built, now)
		if err != nil {
			return names, err
		}
		if p.pushed[node] == built && !renewed {
			continue
		}
		if known := p.issued[node]; known != nil {
			byType[wire.SecretType.URL()] = known.secrets
		}
		s, err := cachev3.NewSnapshot(fmt.Sprint(p.version), byType)
		if err == nil {
			err = p.cache.SetSnapshot(ctx, node, s)
		}
		if err != nil {
			return names, err
		}
		names = append(names, d.Name)
	}
	for node := range p.pushed {
		if next[node] == nil {
			p.cache.ClearSnapshot(node)
			delete(p.issued, node)
		}
	}
	p.pushed, p.messages = next, used
	return names, refused
}

// certify signs a certificate for a dataplane that needs one: its first, one for another SPIFFE ID, or
// the next. It reports whether the secrets of the node changed.
func (p *pusher) certify(node string, s *snapshot.Snapshot, now time.Time) (changed bool, err error) {
	known, id := p.issued[node], s.Identity
	if p.signer == nil || id == nil || id.Source.Spec.Provider.Type != "Bundled" {
		delete(p.issued, node)
		return known != nil, nil
	}
	if known != nil && known.spiffeID == id.SPIFFEID && now.Before(known.renew) {
		return false, nil
	}
	if known, err = p.signer.issue(id.SPIFFEID, now); err != nil {
		return false, err
	}
	p.issued[node] = known
	return true, nil
}

// messagesOf returns the resources of a snapshot by the URL of their type, and adds them to used.
func (p *pusher) messagesOf(s *snapshot.Snapshot, used map[*wire.Resource]types.Resource) (map[string][]types.Resource, error) {
	byType := map[string][]types.Resource{}
	for t := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(t) {
			m := used[r]
			if m == nil {
				m = p.messages[r]
			}
			if m == nil {
				packed := anypb.Any{TypeUrl: t.URL(), Value: r.Append(nil)}
				var err error
				if m, err = packed.UnmarshalNew(); err != nil {
					return nil, err
				}
			}
			used[r] = m
			byType[t.URL()] = append(byType[t.URL()], m)
		}
	}
	return byType, nil
}
