package server

import (
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Status is the state of the streams of a node, in the JSON of SPEC 12.5.
type Status struct {
	KRI     string         `json:"kri"`
	Streams []StreamStatus `json:"streams"`
	// Types contains the types to which a stream of the node subscribes, by name, such as
	// clusters. If several streams subscribe to a type, the last one is shown.
	Types     map[string]TypeStatus `json:"types"`
	Converged bool                  `json:"converged"`
}

// A StreamStatus is one stream.
type StreamStatus struct {
	Since    time.Time `json:"since"`
	Peer     string    `json:"peer"`
	Protocol string    `json:"protocol"`         // delta or sotw
	Client   string    `json:"client,omitempty"` // the user agent and its version, such as "envoy 1.36.4"
}

// A TypeStatus is what a client has of one type. Sent and Acked are hashes of the
// names and versions of all its resources: they are equal if the client has accepted
// what was sent last, and empty if nothing was.
type TypeStatus struct {
	Sent  string      `json:"sent"`
	Acked string      `json:"acked"`
	NACK  *NACKStatus `json:"nack,omitempty"`
	// Silent is since when the client does not answer, if it does not.
	Silent *time.Time `json:"silent,omitempty"`
}

// A NACKStatus is the last NACK, until the client ACKs what it is about.
type NACKStatus struct {
	Message   string    `json:"message"`   // in the words of the client
	Resources []string  `json:"resources"` // sorted
	At        time.Time `json:"at"`
}

// Status returns the status of a node, with no streams if none is connected.
func (s *Server) Status(id string) Status {
	status := Status{KRI: id, Streams: []StreamStatus{}, Types: map[string]TypeStatus{}}
	for _, st := range s.nodes.streamsOf(id) {
		status.Streams = append(status.Streams, StreamStatus{
			Since: s.timeOf(st.since), Peer: st.client.Address, Protocol: st.protocol.String(),
			Client: strings.TrimSpace(st.node.UserAgent + " " + st.node.Version),
		})
		st.mu.Lock()
		for _, w := range st.watches {
			if w != nil {
				of := w.status()
				if w.silent != 0 {
					since := s.timeOf(w.silent).UTC()
					of.Silent = &since
				}
				status.Types[w.t.String()] = of
			}
		}
		st.unlock()
	}
	status.Converged = s.NodeState(id) == Converged
	return status
}

// status is called with the lock of the stream.
func (w *watch) status() TypeStatus {
	var t TypeStatus
	if w.answered || len(w.held)+len(w.heldVariants) > 0 {
		last := acceptance{w.held, w.heldVariants}
		if w.accepted != nil {
			last = *w.accepted
		}
		accepted := without(w.withoutKept(last.held), func(r *wire.Resource) bool {
			return slices.Contains(w.rejected, rejection{r.Name, r.Version})
		})
		t.Sent = versionOf(w.withoutKept(w.held), w.heldVariants)
		t.Acked = versionOf(accepted, last.variants)
		if w.nack != nil && t.Acked == t.Sent {
			t.Acked = ""
		}
	}
	if w.flight.message != nil {
		t.Sent = versionOf(w.withoutKept(w.flight.next), w.flight.nextVariants)
	}
	if w.nack != nil {
		t.NACK = &NACKStatus{Message: w.nack.message, Resources: w.nack.resources, At: time.Unix(0, w.nack.at).UTC()}
	}
	return t
}
