package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestAnswers compares what is built for the meshes of testdata with golden files. In
// an archive the first file is the mesh; the name of any other file is a question, and
// its content the answer:
//
//	names NAME                      the types and names of the resources of a dataplane
//	snapshot NAME                   the resources
//	static NAME [spire-socket=PATH] a bootstrap with these resources
//	bootstrap NAME xds=HOST [ca=PATH] [certificate=PATH] [key=PATH] [spire-socket=PATH]
//	warnings NAME                   the warnings of a dataplane
//	check                           the warnings of all dataplanes
//
// UPDATE=1 writes the answers.
func TestAnswers(t *testing.T) {
	golden.Archives(t, "testdata/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		mesh := &archive.Files[0]
		state := stateOf(t, string(mesh.Data))
		return func(t *testing.T, f *txtar.File) (string, bool) {
			if f == mesh {
				return "", false
			}
			return answer(t, state, strings.Fields(f.Name)), true
		}
	})
}

// stateOf returns the state of a mesh, with all translators.
func stateOf(t *testing.T, mesh string) *snapshot.State {
	t.Helper()
	view := coretest.View(t, mesh)
	return snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
}

// warningsOf returns the warnings of all dataplanes.
func warningsOf(t *testing.T, state *snapshot.State) []xds.Warning {
	t.Helper()
	warnings, err := state.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return warnings
}

func answer(t *testing.T, state *snapshot.State, words []string) string {
	t.Helper()
	if words[0] == "check" {
		return lines(warningsOf(t, state))
	}
	d := state.View().Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: words[1]})
	if d == nil {
		t.Fatalf("there is no dataplane %s", words[1])
	}
	given := map[string]string{}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		given[key] = value
	}
	snapshot := state.Snapshot(d, xds.Envoy)
	options := bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:9901"), SpireSocket: given["spire-socket"]}
	switch words[0] {
	case "names":
		var b strings.Builder
		for kind := range wire.Type(wire.NumTypes) {
			for _, r := range snapshot.Resources(kind) {
				fmt.Fprintln(&b, kind, r.Name)
			}
		}
		return b.String()
	case "snapshot":
		data, err := json.Marshal(snapshot)
		return indented(t, data, err)
	case "warnings":
		return lines(snapshot.Warnings())
	case "static":
		bootstrap, err := bootstrap.Static(snapshot, options)
		if err != nil {
			return fmt.Sprintln(err)
		}
		return messageText(t, bootstrap)
	case "bootstrap":
		server := bootstrap.Server{Host: given["xds"], Port: 5678, CA: given["ca"], Certificate: given["certificate"], Key: given["key"]}
		return messageText(t, bootstrap.ADS(d, snapshot.Identity, server, options))
	}
	t.Fatalf("unknown question %q", words)
	return ""
}

func lines(warnings []xds.Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		fmt.Fprintln(&b, w)
	}
	return b.String()
}

func messageText(t *testing.T, m proto.Message) string {
	t.Helper()
	data, err := message.JSON(m)
	return indented(t, data, err)
}

func indented(t *testing.T, data []byte, err error) string {
	t.Helper()
	var b bytes.Buffer
	if err == nil {
		err = json.Indent(&b, data, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n") + "\n"
}
