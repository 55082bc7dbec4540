package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
)

// apply names what is stored already and does not load: bad documents, bad keys, and
// documents under the key of another resource. They do not prevent it.
func TestApplyNamesWhatDoesNotLoad(t *testing.T) {
	if os.Getenv("ETCD") == "" && os.Getenv("CI") == "" {
		t.Skip("it needs an etcd: make e2e-stores")
	}
	server := etcdtest.Start(t)
	client := server.Client()
	t.Cleanup(func() { client.Close() })
	const good = `{"type": "MeshTimeout", "mesh": "default", "name": "t", "spec": {"to": [{"default": {"idleTimeout": "3s"}}]}}`
	for key, document := range map[string]string{
		"m/MeshTimeout/default/-/bad":   strings.NewReplacer("3s", "soon", `"t"`, `"bad"`).Replace(good),
		"m/MeshTimeout/default/-/other": good,
		"m/odd":                         good,
	} {
		if _, err := client.Put(t.Context(), key, document); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	words := []string{"apply", "-f", "-", "--to", server.URL("m")}
	if code := new(Program).run(t.Context(), words, strings.NewReader(strings.Replace(good, `"t"`, `"new"`, 1)), &stdout, &stderr); code != exitDone {
		t.Errorf("exit status %d", code)
	}
	for _, want := range []string{`bad duration "soon"`, `its key of MeshTimeout "other"`, "a key has the four parts"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("there is no %q in\n%s", want, stderr.String())
		}
	}
	if !strings.Contains(stdout.String(), `create MeshTimeout "new"`) {
		t.Errorf("printed is %s", stdout.String())
	}
}
