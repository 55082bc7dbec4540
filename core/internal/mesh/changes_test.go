package mesh

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Each archive has a mesh and an edit of it: documents that are put, and identities that are
// deleted. Its answers are what changed for dataplanes and for destinations, and how many
// classes, profiles and blocks the mesh then has. The state after the edit is also what a new
// writer makes of the same resources (doc.go, the last invariant).
func TestChanges(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		c := newChange(t, archive)
		before := c.apply(t, "mesh.yaml", "")
		after := c.apply(t, "edit.yaml", "delete")
		c.checkRebuilt(t)
		return func(_ *testing.T, file *txtar.File) (string, bool) {
			switch file.Name {
			case "changes":
				return changesText(before, after), true
			case "destinations":
				return destinationsText(before, after), true
			case "sizes":
				classes, profiles, blocks := c.writer.Len()
				return fmt.Sprintf("%d classes, %d profiles, %d blocks\n", classes, profiles, blocks), true
			}
			return "", false
		}
	})
}

// change is the change of an archive, and the writer of its mesh.
type change struct {
	files   map[string][]byte
	reading semantics.Reading
	writer  *Writer
	enforce *enforce.Hub
	memory  Buffers
}

func newChange(t *testing.T, archive *txtar.Archive) *change {
	t.Helper()
	c := &change{files: map[string][]byte{}, enforce: enforce.Empty()}
	for _, f := range archive.Files {
		c.files[f.Name] = f.Data
	}
	c.reading.Semantics = semantics.TargetRef
	if name := c.files["semantics"]; name != nil {
		if err := c.reading.Semantics.UnmarshalText(bytes.TrimSpace(name)); err != nil {
			t.Fatal(err)
		}
	}
	c.reading.Order = c.reading.Semantics.Order()
	c.writer = NewWriter("default", kinds.All(), c.reading)
	return c
}

// apply puts the documents of one file and deletes what another names, and returns the state.
func (c *change) apply(t *testing.T, put, remove string) *State {
	t.Helper()
	b := c.batch(t, put, remove)
	u, err := c.writer.Prepare(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if u == nil {
		return c.writer.now
	}
	state, err := u.Run(t.Context(), &c.memory)
	if err != nil {
		t.Fatal(err)
	}
	if state != nil {
		if err := c.writer.Check(state); err != nil {
			t.Error(err)
		}
	}
	return state
}

func (c *change) batch(t *testing.T, put, remove string) *Batch {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: put, Data: c.files[put]})
	if err != nil {
		t.Fatal(err)
	}
	b := &Batch{Mesh: "default", Dataplanes: editsOf(set.Dataplanes), Policies: editsOf(set.Policies), Objects: editsOf(set.Objects)}
	for _, m := range set.Meshes {
		b.Document = Upsert(m)
	}
	for line := range strings.Lines(string(c.files[remove])) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		id := resource.ID{Kind: kind, Mesh: "default", Name: name}
		switch {
		case resource.IsObject(kind):
			b.Objects = append(b.Objects, Edit[resource.Object]{ID: &id})
		case kind == resource.DataplaneKind:
			b.Dataplanes = append(b.Dataplanes, Edit[*resource.Dataplane]{ID: &id})
		default:
			b.Policies = append(b.Policies, Edit[*resource.Policy]{ID: &id})
		}
	}
	editor := c.enforce.Edit()
	for _, d := range set.Documents {
		editor.Put(ocm.ResourceOf(d))
	}
	c.enforce, b.Enforcement.Delta = editor.Commit()
	b.Enforcement.State = c.enforce
	b.Sort(false)
	return b
}

// checkRebuilt compares the state with what a new writer makes of its resources.
func (c *change) checkRebuilt(t *testing.T) {
	t.Helper()
	if c.writer.empty() {
		return
	}
	w, err := Rebuild(t.Context(), c.writer.now, c.reading, c.enforce, &c.memory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := changesText(c.writer.now, w.now) + destinationsText(c.writer.now, w.now); diff != "" {
		t.Errorf("a new writer makes another state:\n%s", diff)
	}
	classes, profiles, blocks := c.writer.Len()
	if a, b, d := w.Len(); a != classes || b != profiles || d != blocks {
		t.Errorf("a new writer has %d classes, %d profiles and %d blocks; got %d, %d and %d", a, b, d, classes, profiles, blocks)
	}
}

// changesText has a line for each difference, sorted: the dataplanes and why they differ.
func changesText(before, after *State) string {
	var lines []string
	for _, d := range Compare(before, after) {
		var line strings.Builder
		for i, dataplane := range d.Dataplanes() {
			if i > 0 {
				line.WriteString(", ")
			}
			line.WriteString(dataplane.Name)
		}
		switch {
		case d.Joined():
			line.WriteString(" joined")
		case d.Left():
			line.WriteString(" left")
		}
		if d.OwnResource {
			line.WriteString("; its resource")
		}
		writeIDs(&line, "policies", d.Policies)
		writeIDs(&line, "bindings", d.Bindings)
		writePlaces(&line, "places", d.Places)
		if !slices.Equal(d.Shadow, d.Places) {
			writePlaces(&line, "shadow", d.Shadow)
		}
		lines = append(lines, line.String()+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func destinationsText(before, after *State) string {
	var lines strings.Builder
	for _, d := range CompareDestinations(before, after, nil) {
		fmt.Fprintf(&lines, "%s %s", d.Destination.Kind, d.Destination.Name)
		for _, reason := range []struct {
			holds bool
			text  string
		}{{d.Joined, " joined"}, {d.Left, " left"}, {d.OwnResource, "; its resource"}} {
			if reason.holds {
				lines.WriteString(reason.text)
			}
		}
		writeIDs(&lines, "policies", d.Policies)
		writeIDs(&lines, "endpoints", d.Endpoints)
		writeIDs(&lines, "zones", d.Zones)
		lines.WriteString("\n")
	}
	return lines.String()
}

func writeIDs(b *strings.Builder, what string, ids []resource.ID) {
	for i, id := range ids {
		if i == 0 {
			fmt.Fprintf(b, "; %s", what)
		}
		fmt.Fprintf(b, " %s", id.Name)
	}
}

func writePlaces(b *strings.Builder, what string, places []results.Place) {
	for i, p := range places {
		separator := ","
		if i == 0 {
			separator = "; " + what
		}
		fmt.Fprintf(b, "%s %s", separator, p)
	}
}
