package serve_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// One edit changes an inbound from HTTP to TCP and takes its permissions: the filter that open
// connections still use denies at once (SPEC 12.3). Without an edit of permissions it stays, and the
// filter of an inbound that is gone denies everyone after the next edit of another filter.
func TestFilterFollowsWhileItDrains(t *testing.T) {
	const (
		first  = "permission/inbound/10.0.0.1/80"
		second = "permission/inbound/10.0.0.1/81"
		allow  = `{type: MeshTrafficPermission, name: all, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}`
		deny   = `{type: MeshTrafficPermission, name: all, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}}`
		one    = `{port: 80, protocol: PROTOCOL, tags: {kuma.io/service: web}}`
		other  = `, {port: 81, protocol: http, tags: {kuma.io/service: web}}`
	)
	dataplane := func(inbounds string) string {
		return `{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [` + inbounds + "]}}\n---\n"
	}
	http := strings.Replace(one, "PROTOCOL", "http", 1)
	tcp := strings.Replace(one, "PROTOCOL", "tcp", 1)
	for name, test := range map[string]struct {
		edits []string
		stays bool // with the last edit the first filter is what it was
	}{
		"the protocol":                         {[]string{dataplane(tcp+other) + allow}, true},
		"the protocol, then permissions":       {[]string{dataplane(tcp+other) + allow, dataplane(tcp+other) + deny}, false},
		"the protocol and permissions at once": {[]string{dataplane(tcp+other) + deny}, false},
		"the inbound":                          {[]string{dataplane(other[2:]) + allow}, true},
		"the inbound and permissions at once":  {[]string{dataplane(other[2:]) + deny}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, map[string]string{"mesh.yaml": dataplane(http+other) + allow})
				web := r.client("kri_dp_default___web_", nil)
				if err := web.Wildcard(wire.ListenerType); err != nil {
					t.Fatal(err)
				}
				if err := web.Subscribe(wire.ExtensionType, first, second); err != nil {
					t.Fatal(err)
				}
				held := func() string { return web.Named(wire.ExtensionType)[first].Body }
				listeners := func() string { return versions(web, wire.ListenerType) }
				r.eventually("the filters", func() bool { return held() != "" && listeners() != "" })
				before := held()
				for _, edit := range test.edits {
					was := versions(web, wire.ListenerType) + versions(web, wire.ExtensionType)
					r.write("mesh.yaml", edit)
					r.eventually("the edit", func() bool { return versions(web, wire.ListenerType)+versions(web, wire.ExtensionType) != was })
				}
				synctest.Wait()
				if held() == "" || (held() == before) != test.stays {
					t.Errorf("the filter was %q and is %q", before, held())
				}
			})
		})
	}
}
