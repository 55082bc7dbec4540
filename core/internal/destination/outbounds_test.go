package destination_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// Each archive has a mesh. An answer, named after a semantics, has for each dataplane the outbounds
// to destinations: the destination and the port, where the workload connects, and the confs of
// MeshTimeout if there are any (SPEC 17.3).
func TestOutbounds(t *testing.T) {
	golden.Archives(t, "testdata/outbounds/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		text := ""
		for _, f := range archive.Files {
			if f.Name == "mesh.yaml" {
				text = string(f.Data)
			}
		}
		return func(t *testing.T, file *txtar.File) (string, bool) {
			var s core.Semantics
			if s.UnmarshalText([]byte(file.Name)) != nil {
				return "", false
			}
			view, err := core.Options{Semantics: s}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, text))
			if err != nil {
				t.Fatal(err)
			}
			return outboundsText(t, view), true
		}
	})
}

func outboundsText(t *testing.T, view *core.View) string {
	t.Helper()
	var b strings.Builder
	for _, d := range view.Dataplanes("default") {
		fmt.Fprintf(&b, "%s\n", d.Name)
		outbounds, err := view.Outbounds(d, "MeshTimeout", core.Enforced)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outbounds {
			to := o.Destination
			if to == nil {
				continue
			}
			fmt.Fprintf(&b, "  %s %s:%d at %s", to.Destination.Identity().Kind, to.Destination.Identity().Name, to.Port.Number, net.JoinHostPort(to.Address, fmt.Sprint(to.Listens)))
			if o.Effective != nil {
				for pointer, origin := range o.Effective.Fields() {
					fmt.Fprintf(&b, ", %s by %s", pointer, origin.Policy.Name)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
