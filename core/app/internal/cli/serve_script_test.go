package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveCommands are the commands of scripts about `serve`. The log of the server is the
// file log.
//
//	serve ARGS...   starts the server on free ports, and waits until it serves
//	await PATTERN   waits until the log matches
//	get PATH FILE   writes the status and the answer of a GET to a file
//	terminate       sends SIGTERM; the server must exit with 0
//
// The commands wait until the context ends.
func serveCommands(ctx context.Context) map[string]scriptCommand {
	return map[string]scriptCommand{
		"serve": scriptServe(ctx), "await": scriptAwait(ctx), "get": scriptGet, "terminate": scriptTerminate(ctx),
	}
}

// scriptServer is the server of a script.
type scriptServer struct {
	command *exec.Cmd
	log     *liveLog      // the content of the file log
	ended   chan struct{} // closed when err is set
	err     error
}

type scriptServerKey struct{}

// scriptCommand is a command of scripts.
type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

func scriptServe(ctx context.Context) scriptCommand {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		path, err := exec.LookPath("meshmatch")
		ts.Check(err)
		file, err := os.Create(ts.MkAbs("log"))
		ts.Check(err)
		s := &scriptServer{
			command: exec.Command(path, append([]string{"serve", "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...)...),
			log:     newLiveLog(), ended: make(chan struct{}),
		}
		s.command.Dir, s.command.Stderr = ts.MkAbs("."), io.MultiWriter(file, s.log)
		ts.Check(s.command.Start())
		go func() {
			defer close(s.ended)
			s.err = s.command.Wait()
			file.Close()
		}()
		ts.Defer(func() {
			s.command.Process.Kill()
			<-s.ended
		})
		*ts.Value(scriptServerKey{}).(**scriptServer) = s
		if s.log.await(ctx, s.ended, serves) == nil {
			ts.Fatalf("serve does not serve:\n%s", s.log)
		}
	}
}

func scriptAwait(ctx context.Context) scriptCommand {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		s := *ts.Value(scriptServerKey{}).(**scriptServer)
		if pattern := regexp.MustCompile(args[0]); s.log.await(ctx, s.ended, pattern) == nil {
			ts.Fatalf("the log does not match %s:\n%s", pattern, s.log)
		}
	}
}

// serves matches the log of a server that is ready: the two lines come in any order.
var serves = regexp.MustCompile(`(?s)HTTP is served.*ADS is served.*\n|ADS is served.*HTTP is served.*\n`)

var (
	httpAddress = regexp.MustCompile(`HTTP is served on (https?://[^\s"]+)`)
	adsAddress  = regexp.MustCompile(`ADS is served on ([^\s"]+)`)
)

func scriptGet(ts *testscript.TestScript, _ bool, args []string) {
	s := *ts.Value(scriptServerKey{}).(**scriptServer)
	response, err := http.Get(httpAddress.FindStringSubmatch(s.log.String())[1] + args[0])
	ts.Check(err)
	defer response.Body.Close()
	var b bytes.Buffer
	fmt.Fprintln(&b, response.StatusCode)
	_, err = io.Copy(&b, response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}

func scriptTerminate(ctx context.Context) scriptCommand {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		s := *ts.Value(scriptServerKey{}).(**scriptServer)
		ts.Check(s.command.Process.Signal(syscall.SIGTERM))
		select {
		case <-s.ended:
			ts.Check(s.err)
		case <-ctx.Done():
			ts.Fatalf("the server does not end:\n%s", s.log)
		}
	}
}
