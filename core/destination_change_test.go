package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// destinationsText renders the changes of destinations, one line for each.
func destinationsText(c core.Commit) []string {
	var lines []string
	for _, change := range c.DestinationChanges() {
		line := change.Action.String() + " " + change.Destination.Name
		if change.Destination == (resource.ID{}) {
			line = change.Action.String() + " all"
		}
		if change.OwnResource {
			line += ", itself"
		}
		for _, id := range change.Policies {
			line += ", by " + id.Name
		}
		for _, id := range change.Endpoints {
			line += ", endpoint " + id.Name
		}
		lines = append(lines, line)
	}
	return lines
}

const destinationsWorld = `
---
{type: MeshService, name: api, labels: {app: api}, spec: {ports: [{port: 80}], selector: {dataplaneTags: {kuma.io/service: api}}}, status: {vips: [{ip: 241.0.0.1}]}}
---
{type: MeshService, name: db, labels: {app: db}, spec: {ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.2}]}}
---
{type: MeshExternalService, name: files, spec: {match: {port: 443}}, status: {vip: {ip: 242.0.0.1}}}
---
{type: Dataplane, name: api-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: api}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}
---
{type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: api}, rules: []}]}}
`

// If the mesh has destinations, a change of a dataplane reports that its policies with
// `to` items differ, as no place has their confs.
func TestChangesOfDestinations(t *testing.T) {
	timeout := "\n---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {idleTimeout: 1s}}]}}\n"
	rules := strings.NewReplacer("to: [{targetRef: {kind: MeshService, name: api}, ", "rules: [{").Replace(timeout)
	for name, c := range map[string]struct {
		world, upsert string
		want          []string
	}{
		"a policy for a service":    {destinationsWorld, timeout, []string{"changed api-1, destinations, by t"}},
		"a policy for inbounds":     {destinationsWorld, rules, []string{"changed api-1, by t, MeshTimeout of inbound 0"}},
		"without destinations":      {dataplaneText("api-1", "api", toOther), timeout, nil},
		"the policy in other lines": {destinationsWorld + timeout, "\n\n\n" + timeout, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, c.world)
			commit := apply(t, e, core.Batch{Upsert: decode(t, c.upsert)})
			if diff := cmp.Diff(c.want, changesText(commit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A change names the destinations whose own resources, policies or endpoints changed,
// between views of one engine and of two, and back.
func TestDestinationChanges(t *testing.T) {
	const idle = "default: {idleTimeout: 1s}"
	timeout := func(target string) string {
		return "\n---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {" + target + "}, " + idle + "}]}}\n"
	}
	id := func(kind, name string) resource.ID { return resource.ID{Kind: kind, Mesh: "default", Name: name} }
	for name, c := range map[string]struct {
		upsert string
		delete []resource.ID
		want   []string
	}{
		"a service is added": {
			upsert: "---\n{type: MeshService, name: new, spec: {ports: [{port: 80}]}}\n",
			want:   []string{"joined new, itself"},
		},
		"a service has another address": {
			upsert: strings.Replace(destinationsWorld, "241.0.0.2", "241.0.0.9", 1),
			want:   []string{"changed db, itself"},
		},
		"a service has another port": {
			upsert: "---\n{type: MeshExternalService, name: files, spec: {match: {port: 444}}, status: {vip: {ip: 242.0.0.1}}}\n",
			want:   []string{"changed files, itself"},
		},
		"a service is removed":               {delete: []resource.ID{id("MeshService", "db")}, want: []string{"left db, itself"}},
		"services are in other lines":        {upsert: "\n\n" + destinationsWorld},
		"an endpoint goes away":              {delete: []resource.ID{id("Dataplane", "api-1")}, want: []string{"changed api, endpoint api-1"}},
		"a dataplane of no service is added": {upsert: dataplaneText("web-1", "web", toOther)},
		"an endpoint is added": {
			upsert: dataplaneText("api-2", "api", toOther),
			want:   []string{"changed api, endpoint api-2"},
		},
		"a policy by name":      {upsert: timeout("kind: MeshService, name: api"), want: []string{"changed api, by t"}},
		"a policy by labels":    {upsert: timeout("kind: MeshService, labels: {app: db}"), want: []string{"changed db, by t"}},
		"a policy for a route":  {upsert: timeout("kind: MeshHTTPRoute, name: r"), want: []string{"changed api, by t"}},
		"a policy for all":      {upsert: timeout("kind: Mesh"), want: []string{"changed all, by t"}},
		"a policy finds none":   {upsert: timeout("kind: MeshService, name: other")},
		"a route is removed":    {delete: []resource.ID{id("MeshHTTPRoute", "r")}, want: []string{"changed api, by r"}},
		"a policy without `to`": {upsert: "---\n{type: MeshTimeout, name: t, spec: {rules: [{" + idle + "}]}}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, destinationsWorld)
			before := e.View()
			b := core.Batch{Delete: c.delete}
			if c.upsert != "" {
				b.Upsert = decode(t, c.upsert)
			}
			apply(t, e, b)
			stranger, err := core.NewView(t.Context(), kinds.All(), decode(t, "\n"+destinationsWorld))
			if err != nil {
				t.Fatal(err)
			}
			for from, v := range map[string]*core.View{"the engine's": before, "a stranger's": stranger} {
				if diff := cmp.Diff(c.want, destinationsText(core.Commit{Before: v, After: e.View()})); diff != "" {
					t.Errorf("from %s view: %s", from, diff)
				}
				back := strings.Join(destinationsText(core.Commit{Before: e.View(), After: v}), "\n")
				back = strings.NewReplacer("left ", "joined ", "joined ", "left ").Replace(back)
				if diff := cmp.Diff(strings.Join(c.want, "\n"), back); diff != "" {
					t.Errorf("back to %s view: %s", from, diff)
				}
			}
		})
	}
	if empty := new(core.View); len(core.CompareDestinations(empty, empty)) != 0 {
		t.Error("views without meshes have changes")
	}
	e := newEngine(t, destinationsWorld)
	want := []string{"joined files, itself", "joined api, itself, endpoint api-1", "joined db, itself"}
	if diff := cmp.Diff(want, destinationsText(core.Commit{Before: new(core.View), After: e.View()})); diff != "" {
		t.Errorf("a new mesh: %s", diff)
	}
}
