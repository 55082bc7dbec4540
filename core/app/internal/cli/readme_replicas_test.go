package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// TestReadmeReplicas runs the block of core/OPERATORS.md with three replicas before one etcd, on
// free ports. Then the etcd is killed, restarted and edited: each replica serves all the
// time, and ends at the edit.
func TestReadmeReplicas(t *testing.T) {
	if os.Getenv("ETCD") == "" && os.Getenv("CI") == "" {
		t.Skip("it needs an etcd: make e2e-stores")
	}
	server := etcdtest.Start(t)
	t.Chdir("../../../..")
	var replicas []string // their URLs
	run := func(line string) {
		t.Helper()
		words := strings.Fields(strings.NewReplacer("127.0.0.1:2379", server.Address(), " &", "", "bin/meshmatch ", "").Replace(line))
		if words[0] == "serve" {
			url, _ := serveForTest(t, append(words, "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0", "--state", t.TempDir()))
			replicas = append(replicas, url)
			return
		}
		var stdout, stderr bytes.Buffer
		if code := new(Program).run(t.Context(), words, strings.NewReader(""), &stdout, &stderr); code != exitDone {
			t.Fatalf("%s: exit status %d, %s", line, code, stderr.String())
		}
	}
	answer := func(url string) string {
		t.Helper()
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%s: status %d, %v: %s", url, response.StatusCode, err, body)
		}
		return string(body)
	}
	await := func(url, want string) {
		t.Helper()
		last := ""
		for limit := envoytest.Limit(t); limit.Err() == nil; {
			if last = answer(url); strings.Contains(last, want) {
				return
			}
		}
		t.Fatalf("%s is not %s: %s", url, want, last)
	}
	const conf = "/meshes/default/dataplanes/web-1/_conf?kind=mt&outbound=backend"

	found := false
	for _, block := range readMarkdown(t, operatorsPage).blocks("sh") {
		if block.lines[0] != "etcd &" {
			continue
		}
		found = true
		for _, line := range block.lines[1:] {
			if path, isCurl := strings.CutPrefix(line, "curl 127.0.0.1:5711"); isCurl {
				await(replicas[0]+path, `"connected": true`)
				continue
			}
			run(line)
		}
	}
	if !found || len(replicas) != 3 {
		t.Fatalf("%s has %d replicas before an etcd, want 3", operatorsPage, len(replicas))
	}
	for _, url := range replicas {
		await(url+conf, `"requestTimeout": "3s"`) // of the proposal
	}
	server.Kill()
	for _, url := range replicas {
		await(url+"/status", `"connected": false`)
		await(url+conf, `"requestTimeout": "3s"`)
	}
	server.Restart()
	run("bin/meshmatch delete mt web-hurries --to etcd://127.0.0.1:2379/demo")
	for _, url := range replicas {
		await(url+conf, `"requestTimeout": "15s"`)
		await(url+"/status", `"connected": true`)
	}

	// Pages follow the store, too.
	site, _, stop := startPage(t, strings.NewReader(""), "page", "-f", server.URL("demo"))
	page := strings.TrimSpace(site) + "meshes/default/dataplanes/web-1"
	await(page, "15s")
	run("bin/meshmatch apply -f testdata/proposal --to etcd://127.0.0.1:2379/demo")
	await(page, "web-hurries")
	if code := stop(); code != exitDone {
		t.Errorf("page ends with exit status %d", code)
	}
}
