package e2e

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
)

// rawPaths are requests with bytes beyond ASCII to an inbound that does not
// normalize paths: the filter denies them itself, as it sees one byte of a
// character at a time.
func rawPaths(t *testing.T) []trial {
	list, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{{KRI: "kri_mtp_default___raw_", Conf: &meshtrafficpermission.RuleConf{
		Deny:  []conf.Match{{Path: &conf.PathMatch{Type: conf.PathRegex, Value: "/private/.{1,3}"}}},
		Allow: []conf.Match{{Path: &conf.PathMatch{Type: conf.PathRegex, Value: "/.*"}}},
	}}})
	var out []trial
	for _, form := range formsOf(t) {
		trial := trial{title: "raw/" + form.name, permissions: &permission.Permissions{Protocol: request.HTTP, Rules: list}, form: form.form, raw: true}
		for _, path := range []string{"/private/a", "/private/abcd", "/private/ää", "/ä", "/a?ä", "/\xff", "/a"} {
			trial.clients = append(trial.clients, withHost(&permissiontest.Call{URIs: permissiontest.SpiffeIDs[:1], Method: "GET", Path: path}))
		}
		out = append(out, trial)
	}
	return out
}

// The normal form of paths is Envoy's.
func TestEnvoyNormalizesPaths(t *testing.T) {
	envoytest.Path(t)
	ca := envoytest.NewAuthority(t)
	list, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{{KRI: "kri_mtp_default___all_", Conf: &meshtrafficpermission.RuleConf{
		Allow: []conf.Match{{Path: &conf.PathMatch{Type: conf.PathPrefix, Value: "/"}}},
	}}})
	p := &permission.Permissions{Protocol: request.HTTP, Rules: list}
	e := startEnvoy(t, []object{listenerOf(t, ca, "all", p, printed(t, p, formsOf(t)[0].form, "all."), false)})
	keepsParameters := formsOf(t)[0].form == rbac.CharacterMatcherForm
	certificate := ca.Issue(t, permissiontest.SpiffeIDs[0])
	paths := []string{"/x/..;a/b", "/x/.;a/b", "/x/..;", "/x/..;/b", "/x/;../b", "/x/a..;/b", "/..;x", "/x/y/%2e%2e;a/b", "/x/.%2e/b", "/x/..%3ba/b", "/x/...;/b", "/x/..,/b", "/x/..\\b", "/x/y/..;..;/b", "/x/.;", "/x/;a/b", "/x/.%2e;a/b", "/x/%2e.;a/b", "/x/%2e;a/b", "/x/..;a%2e", "/x/a%00b"}
	for c := 0x21; c < 0x100; c++ { // Envoy refuses blanks and control characters
		if c != 0x7f && c != '?' {
			paths = append(paths, "/a"+string([]byte{byte(c)})+"b")
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"/", "/", ".", "..", "a", "%2e", "%2E", "%41", "%7e", "%c3", "%C3", "%25", "%3F", "%20", "%", "%4", "\\", "ä", ";", "..;", ".;a", "%2f", "%5C"}
	for range 150 {
		path := "/"
		for range r.IntN(7) {
			path += pieces[r.IntN(len(pieces))]
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		c := withHost(&permissiontest.Call{Method: "GET", Path: path + "?q=/../%41"})
		got, err := send(e.ports["all"], certificate, http2Raw, c)
		if keepsParameters && hasDotParameters(path) && err == nil && !got.allowed {
			continue
		}
		want, ok := request.NormalizePath(c.Path)
		switch {
		case err != nil:
			t.Errorf("%q: %v", path, err)
		case got.refused != (want == ""), got.allowed != ok: // the filter denies escaped slashes
			t.Errorf("%q: refused %v, allowed %v; NormalizePath returns %q, %v", path, got.refused, got.allowed, want, ok)
		case ok && strings.TrimSuffix(got.path, "?q=/../%41") != want:
			t.Errorf("%q becomes %q; NormalizePath returns %q", path, got.path, want)
		}
	}
}
