package serve_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// The log describes what a load changed, even a change of the resources of dataplanes that
// leaves their configuration as it is.
func TestChangeLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trust := fmt.Sprintf("{type: MeshTrust, name: other, spec: {trustDomain: other.example, caBundles: [{type: Pem, pem: {value: %q}}]}}", envoytest.NewAuthority(t).Bundle())
		r := start(t, map[string]string{"mesh.yaml": mesh})
		for _, test := range []struct{ name, file, content, want string }{
			{"a policy", "timeout.yaml", timeout("1s"), "they change the configuration of 1 dataplane"},
			{"a comment", "timeout.yaml", "# A comment.\n" + timeout("1s"), "no dataplane changes"},
			{"an identity", "identity.yaml", identity, "they change the identities of the mesh default"},
			{"another selector", "identity.yaml", strings.Replace(identity, "matchLabels: {}", "matchLabels: {app: web}", 1), "they change the identities of the mesh default"},
			{"a trust", "trust.yaml", trust, "they change the trust of the mesh default"},
			{"both", "timeout.yaml", timeout("2s") + "\n---" + strings.Replace(identity, "name: identity", "name: second", 1),
				"they change the configuration of 1 dataplane and the identities of the mesh default"},
			{"a destination", "service.yaml", "{type: MeshService, name: api, spec: {ports: [{port: 80}]}}", "they change 1 destination"},
			{"a policy for all destinations", "timeout.yaml", timeout("3s"), "they change the configuration of 1 dataplane and every destination and the identities of the mesh default"},
		} {
			loaded := func() (lines []string) {
				for line := range strings.Lines(r.log.String()) {
					if strings.Contains(line, "the files were loaded again; ") {
						lines = append(lines, line)
					}
				}
				return lines
			}
			before := len(loaded())
			r.write(test.file, test.content)
			r.eventually("line about the load", func() bool { return len(loaded()) > before })
			if got := loaded()[before]; !strings.Contains(got, test.want+"\"\n") {
				t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
			}
		}
	})
}

// Documents of variants have no type of xDS. The log says that they are not served, once.
func TestLogsUnserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "variants.yaml": "{type: ResourceVariants, name: routes, variants: [{content: {a: 1}}]}"})
		const line = "1 document of the types ResourceVariants and ResourceFragments: their content has no type of xDS, and is not served"
		r.eventually("line about the document", func() bool { return strings.Contains(r.log.String(), line) })
		r.write("timeout.yaml", timeout("1s"))
		r.eventually("line about the load", func() bool { return strings.Contains(r.log.String(), "the files were loaded again") })
		if n := strings.Count(r.log.String(), line); n != 1 {
			t.Errorf("%d lines about the document", n)
		}
	})
}
