package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
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
		for _, id := range change.Zones {
			line += ", through " + id.Kind + " " + id.Name
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

// A change of a dataplane has the places of its outbounds to destinations whose confs differ.
func TestChangesOfDestinations(t *testing.T) {
	timeout := "\n---\n{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {idleTimeout: 1s}}]}}\n"
	rules := strings.NewReplacer("to: [{targetRef: {kind: MeshService, name: api}, ", "rules: [{").Replace(timeout)
	for name, c := range map[string]struct {
		world, upsert string
		want          []string
	}{
		"a policy for a service":    {destinationsWorld, timeout, []string{`changed api-1, by t, MeshTimeout of MeshService api, port 80, MeshTimeout of MeshHTTPRoute "r" of MeshService api, port 80`}},
		"a policy for inbounds":     {destinationsWorld, rules, []string{"changed api-1, by t, MeshTimeout of inbound 0"}},
		"without destinations":      {dataplaneText("api-1", "api", toOther), timeout, nil},
		"the policy in other lines": {destinationsWorld + timeout, "\n\n\n" + timeout, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, c.world)
			commit := apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, c.upsert)})
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
				b.Upsert = resourcetest.Decode(t, c.upsert)
			}
			apply(t, e, b)
			stranger, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, "\n"+destinationsWorld))
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

// zonesWorld has destinations of the zone of the client, of another zone and outside.
const zonesWorld = `
---
{type: MeshService, name: near, labels: {kuma.io/zone: east, team: a}, spec: {ports: [{port: 80}]}}
---
{type: MeshService, name: far, labels: {kuma.io/zone: west, team: b}, spec: {ports: [{port: 80}]}}
---
{type: MeshMultiZoneService, name: all, spec: {selector: {meshService: {matchLabels: {team: b}}}, ports: [{port: 80}]}}
---
{type: MeshMultiZoneService, name: here, spec: {selector: {meshService: {matchLabels: {team: a}}}, ports: [{port: 80}]}}
---
{type: MeshExternalService, name: out, spec: {match: {port: 80}, tls: {enabled: true, verification: {caCert: {secret: ca}}}}}
---
{type: MeshExternalService, name: out-west, labels: {kuma.io/zone: west}, spec: {match: {port: 80}}}
---
{type: MeshZoneAddress, name: west, labels: {kuma.io/zone: west}, spec: {address: 10.9.0.1, port: 10001}}
---
{type: ZoneIngress, name: west-1, zone: west, networking: {address: 10.0.0.8, port: 10001, advertisedAddress: 10.9.0.2, advertisedPort: 10001}}
---
{type: Secret, name: ca, data: Y2E=}
---
{type: Dataplane, name: egress, labels: {kuma.io/zone: east}, networking: {address: 10.0.0.7, listeners: [{address: 10.0.0.7, type: ZoneEgress, port: 10002}]}}
`

// A change of an address of a zone, of a zone proxy or of a Secret names the destinations
// that clients reach by it, in the semantics that use zone proxies.
func TestDestinationChangesOfZones(t *testing.T) {
	replaced := func(old, by string) string { return strings.Replace(zonesWorld, old, by, 1) }
	for name, c := range map[string]struct {
		upsert string
		delete []resource.ID
		as     semantics.Semantics
		want   []string
	}{
		"an address": {
			upsert: replaced("10.9.0.1", "10.9.0.3"), as: semantics.Kuma3,
			want: []string{"changed all, through MeshZoneAddress west", "changed far, through MeshZoneAddress west"},
		},
		"an address is removed": {
			delete: []resource.ID{{Kind: "MeshZoneAddress", Mesh: "default", Name: "west"}}, as: semantics.Kuma,
			want: []string{"changed all, through MeshZoneAddress west", "changed far, through MeshZoneAddress west"},
		},
		"an ingress of Kuma 2": {
			upsert: replaced("10.9.0.2", "10.9.0.3"), as: semantics.Kuma,
			want: []string{"changed all, through ZoneIngress west-1", "changed far, through ZoneIngress west-1"},
		},
		"an egress":                {upsert: replaced("port: 10002", "port: 10003"), as: semantics.Kuma, want: []string{"changed out, through Dataplane egress"}},
		"an egress of Kuma 2":      {upsert: "{type: ZoneEgress, name: e, zone: west, networking: {address: 10.0.0.6, port: 1}}", as: semantics.Kuma, want: []string{"changed out, through ZoneEgress e", "changed out-west, through ZoneEgress e"}},
		"a Secret":                 {upsert: replaced("Y2E=", "Y2I="), as: semantics.Kuma, want: []string{"changed out, through Secret ca"}},
		"a Secret without zones":   {upsert: replaced("Y2E=", "Y2I="), as: semantics.TargetRef, want: []string{"changed out, through Secret ca"}},
		"an address without zones": {upsert: replaced("10.9.0.1", "10.9.0.3"), as: semantics.TargetRef},
		"the same in other lines":  {upsert: "\n\n" + zonesWorld, as: semantics.Kuma},
		"a Secret of nothing":      {upsert: "{type: Secret, mesh: default, name: other, data: Y2E=}", as: semantics.Kuma},
		"an ingress of a proxy":    {upsert: "{type: Dataplane, name: i, labels: {kuma.io/zone: west}, networking: {address: 10.0.0.5, listeners: [{address: 10.0.0.5, type: ZoneIngress, port: 1}]}}", as: semantics.Kuma},
	} {
		t.Run(name, func(t *testing.T) {
			options := core.Options{Semantics: c.as}
			e := core.NewEngine(kinds.All(), options)
			apply(t, e, core.Batch{Upsert: resourcetest.Decode(t, zonesWorld)})
			before := e.View()
			b := core.Batch{Delete: c.delete}
			if c.upsert != "" {
				b.Upsert = resourcetest.Decode(t, c.upsert)
			}
			apply(t, e, b)
			stranger, err := options.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, "\n"+zonesWorld))
			if err != nil {
				t.Fatal(err)
			}
			for from, v := range map[string]*core.View{"the engine's": before, "a stranger's": stranger} {
				for direction, commit := range map[string]core.Commit{"from": {Before: v, After: e.View()}, "back to": {Before: e.View(), After: v}} {
					if diff := cmp.Diff(c.want, destinationsText(commit)); diff != "" {
						t.Errorf("%s %s view: %s", direction, from, diff)
					}
				}
			}
		})
	}
}
