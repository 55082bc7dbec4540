package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPages serves pages of files: one URL on standard output, the answers of the commands, and
// changes that follow edits.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"dataplanes.yaml", "timeouts.yaml"} {
		content, err := os.ReadFile("../../../../testdata/demo/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site, log, stop := startPage(t, strings.NewReader(""), "page", "-f", dir, "--http-prefix", "/mesh/")
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/mesh/\n$`).MatchString(site) {
		t.Fatalf("standard output is %q", site)
	}
	site = strings.TrimSuffix(site, "/\n")
	for path, args := range map[string]string{
		"/meshes/default/dataplanes/web-2?o=json":             "inspect dataplane web-2 -o json",
		"/meshes/default/dataplanes/web-2?o=json&explain":     "inspect dataplane web-2 --explain -o json",
		"/meshes/default/policies/MeshTimeout/web?o=json":     "inspect policy MeshTimeout web -o json",
		"/meshes/default/access?o=json":                       "reach -o json",
		"/findings?o=json":                                    "check -o json",
		"/meshes/default/try?o=json&dataplane=web-2&path=%2F": "access web-2 --inbound http --path / -o json",
	} {
		var want, stderr bytes.Buffer
		Program{}.run(t.Context(), append(strings.Fields(args), "-f", dir), strings.NewReader(""), &want, &stderr)
		if got := fetch(t, site+path); got != want.String() {
			t.Errorf("%s: got\n%s\nwant that of %s\n%s%s", path, got, args, want.String(), stderr.String())
		}
	}
	// An edit arrives, and is the last change.
	const edit = "{type: MeshTimeout, name: new, spec: {to: [{default: {connectionTimeout: 47s}}]}}\n"
	if err := os.WriteFile(filepath.Join(dir, "new.yaml"), []byte(edit), 0o644); err != nil {
		t.Fatal(err)
	}
	if log.await(t.Context(), nil, regexp.MustCompile("the files were loaded again")) == nil {
		t.Fatal("the edit does not arrive")
	}
	if page := fetch(t, site+"/meshes/default/changes"); !strings.Contains(page, "MeshTimeout/new") {
		t.Error("the edit is not among the changes")
	}
	if page := fetch(t, site+"/meshes/default/dataplanes/web-2"); !strings.Contains(page, "47s") {
		t.Error("the page does not have the new value")
	}
	if code := stop(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

// TestPagesOfStdin serves pages of standard input, which is not watched.
func TestPagesOfStdin(t *testing.T) {
	site, _, stop := startPage(t, strings.NewReader("{type: Dataplane, name: only, networking: {address: 10.0.0.1}}"), "page", "-f", "-")
	if page := fetch(t, strings.TrimSpace(site)+"meshes/default/dataplanes"); !strings.Contains(page, ">only</a>") {
		t.Errorf("the dataplane is not in %s", page)
	}
	if code := stop(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

// TestPagesOfBadInput ends before it prints a URL.
func TestPagesOfBadInput(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{
		{"page -f none", exitNo}, {"page", exitUsage}, {"page -f ../../../../testdata/demo --http-prefix mesh", exitUsage},
		{"page -f ../../../../testdata/demo --http 0.0.0.0:0", exitNo},
	} {
		var stdout, stderr bytes.Buffer
		if code := (Program{}).run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &stdout, &stderr); code != c.code || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, %q: %s", c.args, code, stdout.String(), stderr.String())
		}
	}
}

// startPage runs a command that serves pages, and returns its first line and its log. Stop
// ends it and returns its exit code.
func startPage(t *testing.T, stdin io.Reader, args ...string) (site string, log *liveLog, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	stderr := newLiveLog()
	go func() {
		code <- Program{}.run(ctx, args, stdin, in, stderr)
		in.Close()
	}()
	lines := bufio.NewReader(out)
	site, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	go io.Copy(io.Discard, lines)
	return site, stderr, func() int {
		cancel()
		return <-code
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", url, response.StatusCode, err, body)
	}
	return string(body)
}
