package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
)

// TestClusterPage follows core/app/packaging/README.md with a real API server: it
// writes its files and runs its commands as one script, in another directory and on free
// ports.
func TestClusterPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and starts servers")
	}
	cluster := kubetest.Start(t)
	page := readMarkdown(t, "../../packaging/README.md")
	dir := t.TempDir()
	local := localPage(t, page.String(), dir)
	for _, block := range page.blocks("yaml") {
		text := local.Replace(strings.Join(block.lines, "\n") + "\n")
		path, isFile := strings.CutPrefix(strings.SplitN(text, "\n", 2)[0], "# ")
		if !isFile || !strings.HasPrefix(path, dir) {
			t.Fatalf("the block %q does not begin with the name of a file", text)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	if output, err := exec.Command("go", "build", "-o", bin, "github.com/meshmatch/meshmatch/cmd/meshmatch").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if err := os.Symlink(cluster.Kubectl, filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, c := range page.commands() {
		script.WriteString(local.Replace(c.line) + "\n")
	}
	c := exec.CommandContext(t.Context(), "sh", "-e", "-x", "-c", script.String())
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+cluster.Kubeconfig, "HOME="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the servers of the script too
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	c.Stdout, c.Stderr = output, output // no pipes, which the servers would keep open
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }()
	limit := time.AfterFunc(3*time.Minute, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	defer limit.Stop()
	err = c.Wait()
	printed, _ := os.ReadFile(output.Name())
	for _, want := range []string{"k8s://Dataplane/default/web-1@", "15s", `"connected": true`} {
		if err == nil && !strings.Contains(string(printed), want) {
			t.Errorf("the output has no %s", want)
		}
	}
	if err != nil || t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			t.Logf("%s:\n%s", log, text)
		}
		t.Fatalf("%v:\n%s", err, printed)
	}
}
