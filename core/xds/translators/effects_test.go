package translators_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

type seenEffects struct {
	mu   sync.Mutex
	seen map[string]map[string]bool // field -> "part resource"
}

func (s *seenEffects) add(pointer string, before, after outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err == nil {
			parts[i] = "*"
		}
	}
	pointer = strings.Join(parts, "/")
	for d, old := range before.resources {
		next := after.resources[d]
		for _, pair := range [][2]map[resourceKey]string{{old, next}, {next, old}} {
			for key, version := range pair[0] {
				if pair[1][key] != version {
					if part := partOf(key, before.parts[d], after.parts[d]); part != "" {
						if s.seen[pointer] == nil {
							s.seen[pointer] = map[string]bool{}
						}
						s.seen[pointer][part+" "+key.t.String()] = true
					}
				}
			}
		}
	}
}

func (s *seenEffects) print(t *testing.T, kind string) {
	for _, p := range slices.Sorted(maps.Keys(s.seen)) {
		fmt.Printf("EFFECT %s %s: %s\n", kind, p, strings.Join(slices.Sorted(maps.Keys(s.seen[p])), ", "))
	}
}

type resourceKey struct {
	t    wire.Type
	name string
}

func partOf(key resourceKey, a, b map[string]string) string {
	name := key.name
	switch {
	case key.t == wire.SecretType:
		return ""
	case key.t == wire.ExtensionType:
		return "HTTPInbound"
	case key.t == wire.ListenerType && !strings.HasPrefix(name, "inbound/") && !strings.HasPrefix(name, "outbound/"):
		return "Proxy"
	case strings.HasPrefix(name, "local/"):
		name = "inbound/" + strings.TrimPrefix(name, "local/")
	}
	if p := a[name]; p != "" {
		return p
	}
	return b[name]
}

func resourcesOf(s *snapshot.Snapshot) (map[resourceKey]string, map[string]string) {
	all, parts := map[resourceKey]string{}, map[string]string{}
	for ty := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(ty) {
			all[resourceKey{ty, r.Name}] = r.Version
			if ty == wire.ListenerType {
				p := "TCP"
				if bytes.Contains(r.Body, []byte("http_connection_manager")) {
					p = "HTTP"
				}
				switch {
				case strings.HasPrefix(r.Name, "inbound/"):
					parts[r.Name] = p + "Inbound"
				case strings.HasPrefix(r.Name, "outbound/"):
					parts[r.Name] = p + "Outbound"
				}
			}
		}
	}
	for _, r := range s.Resources(wire.ClusterType) {
		if strings.HasPrefix(r.Name, "default/") {
			p := "TCPOutbound"
			if _, http := all[resourceKey{wire.RouteType, r.Name}]; http {
				p = "HTTPOutbound"
			}
			parts[r.Name] = p
		}
	}
	return all, parts
}
