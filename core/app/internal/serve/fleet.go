package serve

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A FleetStatus is the clients of one version (SPEC 18.2).
type FleetStatus struct {
	// Client is "envoy" with a version, or "gRPC" or "unknown": one that states no version.
	Client  string `json:"client"`
	Streams int64  `json:"streams"`
	// Missing is what these clients lack of the newest release, and what they get instead.
	Missing []capability.Lack `json:"missing,omitempty"`
}

// maxFleet bounds the versions that a status and the metrics have, because clients choose the
// texts. The streams of further ones are in the last element, as "other".
const maxFleet = 50

// fleet returns the versions of the clients with a stream, those with most streams first.
func (s *Server) fleet() []FleetStatus {
	type agent struct {
		title  string
		client xds.Client
	}
	streams := map[agent]int64{}
	s.ads.EachAgent(func(userAgent, version string) {
		client, err := xds.ClientBy(userAgent, version)
		if err != nil {
			return // its stream ends: see oldVersions
		}
		title := "unknown"
		if v, err := capability.ParseVersion(version); client.Type == xds.ProxylessGRPC {
			title = "gRPC"
		} else if err == nil {
			title = "envoy " + v.String()
		}
		streams[agent{title, client}]++
	})
	list := make([]FleetStatus, 0, len(streams))
	for key, n := range streams {
		f := FleetStatus{Client: key.title, Streams: n}
		if key.client.Type == xds.Envoy {
			f.Missing = key.client.Lacks.Missing()
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b FleetStatus) int {
		return cmp.Or(cmp.Compare(b.Streams, a.Streams), cmp.Compare(a.Client, b.Client))
	})
	if len(list) > maxFleet {
		other := FleetStatus{Client: "other"}
		for _, f := range list[maxFleet-1:] {
			other.Streams += f.Streams
		}
		list = append(list[:maxFleet-1], other)
	}
	return list
}

// shownClients returns the versions of the clients for pages.
func (s *Server) shownClients() []pages.ClientVersion {
	return lists.Map(s.fleet(), func(f FleetStatus) pages.ClientVersion {
		c := pages.ClientVersion{Version: f.Client, Streams: int(f.Streams)}
		c.Lacks = lists.Map(f.Missing, func(lack capability.Lack) string { return lack.Capability })
		return c
	})
}
