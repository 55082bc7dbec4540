package snapshot_test

import (
	"fmt"
	"path"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// clientTypes are the types of clients that are given snapshots.
var clientTypes = map[string]xds.ClientType{"Envoy": xds.Envoy, "gRPC": xds.ProxylessGRPC}

// answersOf returns what each client of a state is given: the versions of all resources by
// name and the warnings, for each dataplane as each type of client, and the versions of the
// variants that locators choose, for the parameters of each dataplane and each name that a
// dataplane has.
func answersOf(s *snapshot.State) map[string]string {
	answers := map[string]string{}
	for _, mesh := range s.View().Meshes() {
		names := map[string]bool{}
		for _, d := range s.View().Dataplanes(mesh) {
			for client, clientType := range clientTypes {
				built := s.Snapshot(d, clientType)
				addSnapshot(answers, path.Join(strings.TrimPrefix(mesh, "default"), d.Namespace, d.Name, client), built)
			}
			for i := range d.Outbounds {
				if o := &d.Outbounds[i]; o.Backend == nil {
					destination := variant.Destination{Mesh: mesh, Tags: o.Tags}
					names[destination.Name()] = true
				}
			}
		}
		for name := range names {
			addLocated(answers, s, mesh, name)
		}
	}
	return answers
}

func addSnapshot(answers map[string]string, of string, s *snapshot.Snapshot) {
	for _, w := range s.Warnings() {
		answers[of+" warns at "+w.Place+" "+w.Field+": "+w.Message] = w.Code.String()
	}
	if s.Identity != nil {
		answers[of+" is"] = s.Identity.SPIFFEID
	}
	for kind := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(kind) {
			answers[of+" has "+kind.String()+" "+r.Name] = r.Version
		}
	}
	for _, r := range s.API() {
		answers[of+" may ask for "+r.Name] = r.Version
	}
}

func addLocated(answers map[string]string, s *snapshot.State, mesh, name string) {
	clients := map[string]variant.Parameters{}
	for _, d := range s.View().Dataplanes(mesh) {
		for i := range d.Inbounds {
			p := variant.ParametersOf(d, i)
			clients[fmt.Sprint(p)] = p
		}
	}
	clients["no parameters"] = variant.Parameters{}
	clients["web"] = variant.Parameters{resource.ServiceTag: "web"}
	for text, p := range clients {
		for kind := range wire.Type(wire.NumTypes) {
			if located, ok := s.Locate(kind, name, p); ok && located.Resource != nil {
				answers["a locator with "+text+" chooses "+kind.String()+" "+name+" "+located.Constraints] = located.Resource.Version
			}
		}
	}
}
