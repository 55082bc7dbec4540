package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A commit names exactly the clients of a destination whose confs change, with the places,
// and so does the change of the destination (SPEC 5, 17.3).
func TestClientsOfDestinations(t *testing.T) {
	client := func(name string, services ...string) string {
		var outbounds []string
		for i, s := range services {
			outbounds = append(outbounds, fmt.Sprintf("{port: %d, backendRef: {kind: MeshService, name: %s, port: 80}}", i+1, s))
		}
		return fmt.Sprintf("---\n{type: Dataplane, name: %s, networking: {address: 10.0.0.1, outbound: [%s]}}\n", name, strings.Join(outbounds, ", "))
	}
	world := client("a", "one") + client("ab", "one", "two") + client("b", "two") + client("none") +
		"---\n{type: MeshService, name: one, labels: {team: red}, spec: {selector: {dataplaneTags: {x: one}}, ports: [{port: 80, appProtocol: http}]}}\n" +
		"---\n{type: MeshService, name: two, spec: {selector: {dataplaneTags: {x: two}}, ports: [{port: 80, appProtocol: http}]}}\n" +
		timeoutText("base", "", everyDataplane, `{default: {connectionTimeout: 9s}}`) +
		timeoutText("own", "", everyDataplane, `{targetRef: {kind: MeshService, name: one}, default: {idleTimeout: 5s}}`)
	to := func(service, conf string) string {
		return timeoutText("z", "", everyDataplane, "{targetRef: {kind: MeshService, name: "+service+"}, default: {"+conf+"}}")
	}
	for name, c := range map[string]struct {
		upsert        string
		delete        []resource.ID
		want, clients []string
	}{
		"an item to one service": {
			upsert:  to("one", "idleTimeout: 1s"),
			want:    []string{"changed a, by z, MeshTimeout of MeshService one, port 80", "changed ab, by z, MeshTimeout of MeshService one, port 80"},
			clients: []string{"one: a ab"},
		},
		"an item that is overridden": {
			upsert:  timeoutText("a", "", everyDataplane, "{targetRef: {kind: MeshService, name: one}, default: {idleTimeout: 1s}}"),
			clients: []string{"one:"},
		},
		"an item to another service": {
			upsert:  to("two", "idleTimeout: 1s"),
			want:    []string{"changed ab, by z, MeshTimeout of MeshService two, port 80", "changed b, by z, MeshTimeout of MeshService two, port 80"},
			clients: []string{"two: ab b"},
		},
		"an item to a service that is missing": {
			upsert: to("three", "idleTimeout: 1s"),
		},
		"an item to every service": {
			upsert: timeoutText("z", "", everyDataplane, `{default: {connectionTimeout: 1s}}`),
			want: []string{
				"changed a, by z, MeshTimeout of MeshService one, port 80",
				"changed ab, by z, MeshTimeout of MeshService one, port 80, MeshTimeout of MeshService two, port 80",
				"changed b, by z, MeshTimeout of MeshService two, port 80",
			},
			clients: []string{": a ab b"},
		},
		"a policy of one client": {
			upsert:  timeoutText("z", "", "kind: Dataplane, name: ab", `{targetRef: {kind: MeshService, name: one}, default: {idleTimeout: 1s}}`),
			want:    []string{"changed ab, by z, MeshTimeout of MeshService one, port 80"},
			clients: []string{"one: ab"},
		},
		"a policy that informs": {
			upsert:  timeoutText("z", "kuma.io/effect: shadow", everyDataplane, `{targetRef: {kind: MeshService, name: one}, default: {idleTimeout: 1s}}`),
			want:    []string{"changed a, by z, shadow MeshTimeout of MeshService one, port 80", "changed ab, by z, shadow MeshTimeout of MeshService one, port 80"},
			clients: []string{"one:"},
		},
		"a route": {
			upsert: "---\n{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: two}, rules: []}]}}\n",
			want: []string{
				`changed ab, by r, MeshHTTPRoute of MeshService two, port 80, MeshTimeout of MeshHTTPRoute "r" of MeshService two, port 80`,
				`changed b, by r, MeshHTTPRoute of MeshService two, port 80, MeshTimeout of MeshHTTPRoute "r" of MeshService two, port 80`,
			},
			clients: []string{"two: ab b"},
		},
		"a policy is deleted": {
			delete:  []resource.ID{{Kind: "MeshTimeout", Mesh: "default", Name: "own"}},
			want:    []string{"changed a, by own, MeshTimeout of MeshService one, port 80", "changed ab, by own, MeshTimeout of MeshService one, port 80"},
			clients: []string{"one: a ab"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, world)
			commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, c.upsert), Delete: c.delete})
			if diff := cmp.Diff(c.want, changesText(commit)); diff != "" {
				t.Errorf("changes, -want +got:\n%s", diff)
			}
			var clients []string
			for _, d := range commit.DestinationChanges() {
				text := d.Destination.Name + ":"
				for _, client := range d.Dataplanes() {
					text += " " + client.Name
				}
				clients = append(clients, text)
			}
			if diff := cmp.Diff(c.clients, clients); diff != "" {
				t.Errorf("clients of destinations, -want +got:\n%s", diff)
			}
		})
	}
}

// Places of routes with one name in two namespaces are different places (SPEC 17.3).
func TestPlacesOfRoutesInNamespaces(t *testing.T) {
	var world, routes string
	for _, name := range []string{"a", "b"} {
		world += fmt.Sprintf("---\n{type: Dataplane, name: %s, networking: {address: 10.0.0.1, outbound: [{port: 1, backendRef: {kind: MeshService, name: one, port: 80}}]}}\n", name)
		routes += fmt.Sprintf(`---
{apiVersion: kuma.io/v1alpha1, kind: MeshHTTPRoute, metadata: {name: r, namespace: %[1]s, labels: {kuma.io/mesh: default}},
 spec: {targetRef: {kind: Dataplane, name: %[1]s}, to: [{targetRef: {kind: MeshService, name: one}, rules: []}]}}
`, name)
	}
	world += "---\n{type: MeshService, name: one, spec: {selector: {dataplaneTags: {x: one}}, ports: [{port: 80, appProtocol: http}]}}\n"
	e := newEngine(t, world+timeoutText("base", "", everyDataplane, `{default: {connectionTimeout: 9s}}`))
	commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, routes)})
	found := map[string]string{}
	for _, change := range commit.Changes() {
		for _, d := range change.Dataplanes() {
			for _, place := range change.Places {
				found[d.Name] += place.Policies + " " + place.Route.Namespace + ";"
			}
		}
	}
	if diff := cmp.Diff(map[string]string{"a": "MeshHTTPRoute ;MeshTimeout a;", "b": "MeshHTTPRoute ;MeshTimeout b;"}, found); diff != "" {
		t.Errorf("places, -want +got:\n%s", diff)
	}
}
