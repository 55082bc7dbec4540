package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds"
)

// Relocated returns the names, sorted, for which [State.LocateFor] may answer a client differently from an
// earlier state of the builder, for any type and parameters. It returns false if they are not known: it may
// then be each name. The work is proportional to the edits between the states. Usually it is done once for
// all clients of a type with the same capabilities.
func (s *State) Relocated(client xds.Client, before *State) ([]string, bool) {
	if before.builder != s.builder || !sameMeshes(s, before) {
		return nil, false
	}
	key := relocation{client, before.number}
	turns := s.builder.turns.Load()
	if known, ok := s.relocated.Load(key); ok {
		if known := known.(*relocated); known.turns == turns {
			return known.names, known.known
		}
	}
	next := &relocated{turns: turns}
	next.names, next.known = s.relocate(client, before)
	s.relocated.Store(key, next)
	return next.names, next.known
}

// relocated is an answer about an earlier state. It holds as long as no locator was made or has left a state
// since: a client that is still at the earlier state may ask it about another name, which is compared when
// the locator comes back.
type relocated struct {
	turns uint64 // of Builder, before it was found
	names []string
	known bool
}

// sameMeshes reports whether two states have the same meshes: there is no locator for a mesh that does not exist.
func sameMeshes(s, o *State) bool {
	for mesh := range s.meshes {
		if o.meshes[mesh] == nil {
			return false
		}
	}
	return len(s.meshes) == len(o.meshes)
}

// A relocation is a client, and the number of the earlier state.
type relocation struct {
	client xds.Client
	before uint64
}

func (s *State) relocate(client xds.Client, before *State) (names []string, known bool) {
	known = true
	s.builder.locators.Range(func(key, l any) bool {
		if of := key.(locatorKey); of.client == client && s.meshes[of.mesh] != nil {
			moved, ok := l.(*locator).movedSince(s, before)
			names, known = append(names, moved...), known && ok
		}
		return known
	})
	slices.Sort(names)
	return names, known
}

// movedSince returns the names whose variants may be others in a state than in an earlier one.
func (l *locator) movedSince(s, before *State) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow(s)
	return l.moves.since(l, before)
}

// moves are the names of a locator whose variants may have changed, each with the step in which it did last. A
// locator may follow a state to which it has been before, if streams are at different states.
type moves struct {
	step  uint64
	names map[string]uint64
	// forgotten is the last step whose names are not known any more.
	forgotten uint64
}

// maxMoves limits the names that are kept.
const maxMoves = 20_000

// leave begins the step in which a locator leaves a state.
func (m *moves) leave(l *locator, s *State) {
	m.step++
	s.builder.turns.Add(1)
	s.left.LoadOrStore(l, m.step)
	if len(m.names) > maxMoves {
		m.names, m.forgotten = nil, m.step-1
	}
}

func (m *moves) add(name string) {
	if m.step == 0 {
		return // no state was left yet
	}
	if m.names == nil {
		m.names = map[string]uint64{}
	}
	m.names[name] = m.step
}

// since returns the names that changed since a locator has left a state for the first time.
func (m *moves) since(l *locator, s *State) (names []string, known bool) {
	if l.at == s {
		return nil, true
	}
	left, known := s.left.Load(l)
	if !known || left.(uint64) <= m.forgotten {
		return nil, false
	}
	for name, step := range m.names {
		if step >= left.(uint64) {
			names = append(names, name)
		}
	}
	return names, true
}
