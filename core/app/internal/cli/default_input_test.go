package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plugin of kubectl reads the cluster of the context. Lists, and the search for names, are
// those of a namespace and of what has none; --all-namespaces lifts that (SPEC 10).
func TestPluginReadsTheNamespaceOfTheContext(t *testing.T) {
	dataplane := func(namespace, name string) string {
		return fmt.Sprintf(`{"apiVersion": "kuma.io/v1alpha1", "kind": "Dataplane", "mesh": "default", "metadata": {"name": %q, "namespace": %q, "resourceVersion": "1"}, "spec": {"networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}}}`, name, namespace)
	}
	answers := map[string]string{
		"/version": "{}",
		"/api/v1/namespaces/kuma-system/configmaps": ``,
		"/apis":                             `{"groups": [{"name": "kuma.io", "preferredVersion": {"groupVersion": "kuma.io/v1alpha1"}}]}`,
		"/apis/kuma.io/v1alpha1":            `{"resources": [{"name": "dataplanes", "kind": "Dataplane", "verbs": ["list", "watch"]}, {"name": "meshes", "kind": "Mesh", "verbs": ["list", "watch"]}]}`,
		"/apis/kuma.io/v1alpha1/dataplanes": dataplane("shop", "web-1") + "\n" + dataplane("zoo", "lion"),
		"/apis/kuma.io/v1alpha1/meshes":     `{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "metadata": {"name": "default", "resourceVersion": "1"}, "spec": {}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		switch {
		case ok && r.URL.Query().Get("watch") != "": // all objects, and then what changes
			for object := range strings.Lines(answer) {
				fmt.Fprintf(w, `{"type": "ADDED", "object": %s}`+"\n", object)
			}
			fmt.Fprintln(w, `{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		case ok:
			fmt.Fprint(w, answer)
			return
		}
		http.Error(w, `{"message": "there is no `+r.URL.Path+`"}`, http.StatusNotFound)
	}))
	defer server.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: shop, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: shop, context: {cluster: a, namespace: shop}}, {name: plain, context: {cluster: a}}]}", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	t.Setenv(fileVariable, "")
	program := os.Args[0]
	t.Cleanup(func() { os.Args[0] = program })
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte("{type: Dataplane, name: web-9, mesh: default, networking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		program, args string
		code          int
		want          string // of standard output, or error
	}{
		{"kubectl-meshmatch", "get -o name", exitDone, "Dataplane/shop/web-1\nMesh/default\n"},
		{"kubectl-meshmatch", "get -o name -A", exitDone, "Dataplane/shop/web-1\nDataplane/zoo/lion\nMesh/default\n"},
		{"kubectl-meshmatch", "get dp -o name -n zoo", exitDone, "Dataplane/zoo/lion\n"},
		{"kubectl-meshmatch", "get dp -o name --context plain", exitDone, ""}, // namespace default
		{"kubectl-meshmatch", "get dp -o name --context absent", exitNo, "context was not found for specified context: absent"},
		{"kubectl-meshmatch", "inspect dataplane lion", exitNo, `there is no dataplane "lion" in namespace "shop"; it is in "zoo"`},
		{"kubectl-meshmatch", "inspect dataplane lion -A", exitDone, "Dataplane lion"},
		{"kubectl-meshmatch", "inspect dataplane zoo/lion -A", exitDone, "Dataplane lion"},
		{"kubectl-meshmatch", "get -o name -f " + file, exitDone, "Dataplane/web-9\n"},
		{"kubectl-meshmatch", "get --context shop -f " + file, exitUsage, "--context is the cluster that is read without -f"},
		{"meshmatch", "get -o name --context shop", exitDone, "Dataplane/shop/web-1\nDataplane/zoo/lion\nMesh/default\n"},
		{"meshmatch", "get -o name -A -f " + file, exitDone, "Dataplane/web-9\n"},
		{"meshmatch", "get", exitUsage, "no input is given"},
	} {
		t.Run(test.program+" "+strings.Fields(test.args)[0]+" "+test.want, func(t *testing.T) {
			os.Args[0] = test.program
			var stdout, stderr strings.Builder
			p := Program{}
			if code := p.run(t.Context(), strings.Fields(test.args), strings.NewReader(""), &stdout, &stderr); code != test.code {
				t.Fatalf("exit status %d: %s", code, stderr.String())
			}
			if test.code == exitDone && strings.HasPrefix(test.args, "get") {
				if stdout.String() != test.want {
					t.Errorf("%s, want %s", stdout.String(), test.want)
				}
			} else if all := stdout.String() + stderr.String(); !strings.Contains(all, test.want) {
				t.Errorf("no %q in %s", test.want, all)
			}
		})
	}
}
