package check

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The Dockerfile builds a static program, and the program runs as the user of the image in
// a root directory that has only the files of the image.
func TestImage(t *testing.T) {
	text, err := os.ReadFile(packaging + "/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	step := func(pattern string) []string {
		t.Helper()
		found := regexp.MustCompile(`(?m)^` + pattern + `$`).FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("the Dockerfile has no step %s", pattern)
		}
		return found[1:]
	}
	step(`FROM scratch()`)
	step(`COPY --from=build (/etc/ssl/certs/ca-certificates\.crt) /etc/ssl/certs/`)
	entry := step(`ENTRYPOINT \["(.*)"\]`)[0]
	if program := step(`COPY --from=build (.*) /meshmatch`)[0]; program != entry {
		t.Errorf("the program is %s, and the entry point %s", program, entry)
	}
	user := step(`USER (\d+):(\d+)`)

	root := t.TempDir()
	program := filepath.Join(root, entry)
	build := exec.Command("sh", "-c", strings.Replace(step(`RUN (CGO_ENABLED=0 go build .*)`)[0], "-o "+entry, "-o "+program, 1))
	build.Dir = packaging + "/../../.."
	build.Env = append(os.Environ(), "GOWORK=") // that of the repository
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is not static: it has a segment %v", segment.Type)
		}
	}
	if os.Geteuid() != 0 {
		t.Log("the program is not run in the image, which needs root")
		return
	}
	const mesh = `{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}`
	if err := os.WriteFile(filepath.Join(root, "mesh.yaml"), []byte(mesh), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o555); err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.ParseUint(user[0], 10, 32)
	gid, _ := strconv.ParseUint(user[1], 10, 32)
	if uid == 0 || gid == 0 {
		t.Fatal("the image runs as root")
	}
	serve := exec.Command(entry, "serve", "-f", "/mesh.yaml", "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0")
	serve.Dir, serve.Env = "/", []string{}
	serve.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	serve.Stderr = log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ready := false
	for limit := time.Now().Add(time.Minute); !ready && time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		text, _ := os.ReadFile(log.Name())
		ready = bytes.Contains(text, []byte("ADS is served"))
	}
	_ = serve.Process.Signal(syscall.SIGTERM)
	err = serve.Wait()
	if text, _ := os.ReadFile(log.Name()); !ready || err != nil {
		t.Errorf("ready: %v, %v\n%s", ready, err, text)
	}
}
