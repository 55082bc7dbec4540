package cli

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestProductionPage follows core/app/README.md: it writes its files and runs its
// commands as one script, in another directory and on free ports. The script runs the
// proxies if the variable ENVOY names the binary, as `make e2e` does; without it they are
// left out.
func TestProductionPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and starts servers")
	}
	t.Parallel()
	page := readMarkdown(t, "../../README.md")
	dir := t.TempDir()
	local := localPage(t, page.String(), dir)
	for _, block := range page.blocks("yaml") {
		text := local.Replace(strings.Join(block.lines, "\n") + "\n")
		path, isFile := strings.CutPrefix(strings.SplitN(text, "\n", 2)[0], "# ")
		if !isFile || !strings.HasPrefix(path, dir) {
			t.Fatalf("the block %q does not begin with the name of a file", text)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if output, err := exec.Command("go", "build", "-o", bin, "github.com/meshmatch/meshmatch/cmd/meshmatch").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	envoy := os.Getenv("ENVOY")
	if envoy != "" {
		if err := os.Symlink(envoy, filepath.Join(bin, "envoy")); err != nil {
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for _, c := range page.commands() {
		if ofProxy := strings.HasPrefix(c.line, "envoy ") || strings.HasSuffix(c.line, "/ready"); envoy != "" || !ofProxy {
			script.WriteString(local.Replace(c.line) + "\n")
		}
	}
	c := exec.CommandContext(t.Context(), "sh", "-e", "-x", "-c", script.String())
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the servers and proxies of the script too
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	c.Stdout, c.Stderr = output, output // no pipes, which the servers would keep open
	// All processes of the script hold the other end of this pipe, so it closes when the
	// last of them ends.
	ended, alive, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{alive}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	alive.Close()
	t.Cleanup(func() { // nothing writes to the directory when it is removed
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_, _ = io.Copy(io.Discard, ended)
		ended.Close()
	})
	err = c.Wait()
	printed, readErr := os.ReadFile(output.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err != nil {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			t.Logf("%s:\n%s", log, text)
		}
		t.Fatalf("%v:\n%s", err, printed)
	}
	metrics, err := os.ReadFile(filepath.Join(dir, "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`(?:increase\\()?(meshmatch_\\w+)").FindAllStringSubmatch(page.prose(), -1) {
		if !strings.Contains(string(metrics), "\n"+m[1]) {
			t.Errorf("the page names %s, and the server has no such metric", m[1])
		}
	}
	want := `"streams": 0`
	if envoy != "" {
		want = `"converged": 1`
	}
	if n := strings.Count(string(printed), want); n < 2 || !strings.Contains(string(printed), "no warnings") {
		t.Errorf("%d replicas have %s:\n%s", n, want, printed)
	}
}

// localPage replaces the directory and the ports of the page: addresses of the mesh stay,
// unless proxies listen on them.
func localPage(t *testing.T, page, dir string) *strings.Replacer {
	t.Helper()
	pairs := []string{"/tmp/meshmatch", dir}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`127\.0\.0\.1:(\d+)|(?:port|servicePort): (\d+)`).FindAllStringSubmatch(page, -1) {
		port := m[1] + m[2]
		if seen[port] {
			continue
		}
		seen[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // no two are the same
		_, free, _ := net.SplitHostPort(l.Addr().String())
		pairs = append(pairs, "127.0.0.1:"+port, "127.0.0.1:"+free, "port: "+port, "port: "+free, "servicePort: "+port, "servicePort: "+free)
	}
	return strings.NewReplacer(pairs...)
}
