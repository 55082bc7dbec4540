package diag

import "slices"

// Reading is a set of ways to read documents, one bit for each semantics (SPEC 17.1). A finding
// that depends on the way holds in some of them only.
type Reading uint8

// The ways.
const (
	AsTargetRef Reading = 1 << iota
	AsKuma2
	AsKuma3
	// AsKuma is both ways of a control plane of Kuma.
	AsKuma = AsKuma2 | AsKuma3
)

// Depending is a finding that only holds in some ways to read the document that has it.
type Depending struct {
	Diagnostic
	In      Reading
	Warning bool // not an error
	// Document is the position of the resource that has the finding. Stored reports that a
	// control plane stored it: if the finding is an error, the resource is left out.
	Document Position
	Stored   bool
}

// If returns the same place. What is reported there, and within it, only holds if documents
// are read in one of the ways.
func (a *At) If(in Reading) *At {
	if a.probe && a.input.in != 0 && a.input.in&in == 0 {
		return &At{input: &input{sink: new(Sink)}, probe: true}
	}
	copied := *a
	copied.in = in
	return &copied
}

// Depend adds a finding that only holds in some ways.
func (s *Sink) Depend(d Depending) { s.depending = append(s.depending, d) }

// Depending returns the findings so far that only hold in some ways, in their order.
func (s *Sink) Depending() []Depending { return s.depending }

// CutDepending removes such findings after the first n.
func (s *Sink) CutDepending(n int) { s.depending = s.depending[:min(n, len(s.depending))] }

// OfDocument sets the position of the resource that has the findings after the first n, and
// whether a control plane stored it.
func (s *Sink) OfDocument(n int, at Position, stored bool) {
	for i := n; i < len(s.depending); i++ {
		s.depending[i].Document, s.depending[i].Stored = at, stored
	}
}

// Choose makes those findings errors and warnings that hold in a way, and removes the others.
func (s *Sink) Choose(in Reading) {
	for _, d := range s.depending {
		switch {
		case d.In&in == 0:
		case d.Warning:
			s.Warn(d.Diagnostic)
		default:
			s.Error(d.Diagnostic)
		}
	}
	s.depending = nil
}

// SortedDepending returns a copy of a list, ordered like [Sorted].
func SortedDepending(list []Depending) []Depending {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Depending) int { return compare(a.Diagnostic, b.Diagnostic) })
	return slices.Compact(sorted)
}
