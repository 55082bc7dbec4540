package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveCommands are the commands of scripts about `serve`. The log of the server is the
// file log.
//
//	serve ARGS...   starts the server on free ports, and waits until it serves
//	await PATTERN   waits until the log matches
//	get PATH FILE   writes the status and the answer of a GET to a file
//	terminate       sends SIGTERM; the server must exit with 0 within 5 s
func serveCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"serve": scriptServe, "await": scriptAwait, "get": scriptGet, "terminate": scriptTerminate,
	}
}

// scriptServer is the server of a script.
type scriptServer struct {
	command *exec.Cmd
	ended   chan error
}

type scriptServerKey struct{}

func scriptServe(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath("meshmatch")
	ts.Check(err)
	log, err := os.Create(ts.MkAbs("log"))
	ts.Check(err)
	defer log.Close()
	s := &scriptServer{command: exec.Command(path, append([]string{"serve", "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)...), ended: make(chan error, 1)}
	s.command.Dir, s.command.Stderr = ts.MkAbs("."), log
	ts.Check(s.command.Start())
	go func() { s.ended <- s.command.Wait() }()
	ts.Defer(func() { s.command.Process.Kill() })
	*ts.Value(scriptServerKey{}).(**scriptServer) = s
	scriptAwait(ts, false, []string{"ADS is served"})
}

func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	for deadline := time.Now().Add(20 * time.Second); !pattern.MatchString(ts.ReadFile("log")); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("the log does not match %s:\n%s", pattern, ts.ReadFile("log"))
		}
	}
}

var httpAddress = regexp.MustCompile(`HTTP is served on (https?://[^\s"]+)`)

func scriptGet(ts *testscript.TestScript, _ bool, args []string) {
	response, err := http.Get(httpAddress.FindStringSubmatch(ts.ReadFile("log"))[1] + args[0])
	ts.Check(err)
	defer response.Body.Close()
	var b bytes.Buffer
	fmt.Fprintln(&b, response.StatusCode)
	_, err = io.Copy(&b, response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

func scriptTerminate(ts *testscript.TestScript, _ bool, _ []string) {
	s := *ts.Value(scriptServerKey{}).(**scriptServer)
	ts.Check(s.command.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		ts.Check(err)
	case <-time.After(20 * time.Second):
		ts.Fatalf("the server does not end within 20 s:\n%s", ts.ReadFile("log"))
	}
}
