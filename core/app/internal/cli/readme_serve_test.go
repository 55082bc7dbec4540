package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// TestReadmeServes runs the block of core/OPERATORS.md that serves: the server on free ports,
// the bootstrap of a proxy, and what curl asks. The directory of the state is another
// one. The packages below core/app/internal/e2e run Envoy with such a bootstrap.
func TestReadmeServes(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	t.Chdir("../../../..")
	blocks := readMarkdown(t, operatorsPage).blocks("sh")
	block := slices.IndexFunc(blocks, func(b *codeBlock) bool {
		return slices.ContainsFunc(b.lines, func(line string) bool { return strings.HasPrefix(line, "bin/meshmatch serve ") })
	})
	if block < 0 {
		t.Fatal(operatorsPage + " does not show how to serve")
	}
	address := ""
	for _, line := range blocks[block].lines {
		command, args, _ := strings.Cut(line, " ")
		switch command {
		case "make", "envoy":
		case "bin/meshmatch":
			words := strings.Fields(strings.TrimSuffix(args, " &"))
			if words[0] == "serve" {
				address, _ = serveForTest(t, append(words, "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0", "--state", t.TempDir()))
				continue
			}
			words = words[:slices.Index(words, ">")]
			var stdout, stderr bytes.Buffer
			if code := new(Program).run(t.Context(), words, strings.NewReader(""), &stdout, &stderr); code != exitDone || !json.Valid(stdout.Bytes()) {
				t.Errorf("%s: exit status %d, %s", line, code, stderr.String())
			}
		case "curl":
			path := strings.TrimPrefix(strings.Trim(args, "'"), "127.0.0.1:5681")
			response, err := http.Get(address + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK || len(body) == 0 {
				t.Errorf("%s: status %d, %v: %s", line, response.StatusCode, err, body)
			}
		default:
			t.Errorf("%s: no test runs this", line)
		}
	}
}

// TestReadmeRelays runs the block of core/OPERATORS.md with a relay, behind a server of the demo mesh
// and on free ports, until /status has its upstream.
func TestReadmeRelays(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server and a relay")
	}
	t.Chdir("../../../..")
	_, upstream := serveForTest(t, []string{"serve", "-f", "testdata/demo", "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0"})
	address, asked := "", false
	for _, c := range readMarkdown(t, operatorsPage).commands() {
		command, args, _ := strings.Cut(c.line, " ")
		switch {
		case command == "bin/meshmatch" && strings.HasPrefix(args, "relay "):
			args = strings.Replace(strings.TrimSuffix(args, " &"), "--upstream 127.0.0.1:5678", "--upstream "+upstream, 1)
			address, _ = serveForTest(t, append(strings.Fields(args), "--xds", "127.0.0.1:0", "--http", "127.0.0.1:0", "--state", t.TempDir()))
		case command == "curl" && strings.HasPrefix(args, "127.0.0.1:5691") && address != "":
			asked = true
			connected := `"address": "` + upstream + `",
    "connected": true`
			for limit, body := envoytest.Limit(t), ""; !strings.Contains(body, connected); time.Sleep(10 * time.Millisecond) {
				if limit.Err() != nil {
					t.Fatalf("%s: the relay does not connect: %s", c.line, body)
				}
				response, err := http.Get(address + strings.TrimPrefix(args, "127.0.0.1:5691"))
				if err != nil {
					t.Fatal(err)
				}
				content, _ := io.ReadAll(response.Body)
				response.Body.Close()
				body = string(content)
			}
		}
	}
	if !asked {
		t.Error(operatorsPage + " does not show a relay and its status")
	}
}

// serveForTest runs `serve` or `relay` until the test ends, and returns the URL of its HTTP and
// the address of ADS.
func serveForTest(t *testing.T, args []string) (url, ads string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log := newLiveLog()
	code, ended := exitDone, make(chan struct{})
	go func() {
		defer close(ended)
		code = Program{}.run(ctx, args, strings.NewReader(""), log, log)
	}()
	t.Cleanup(func() {
		cancel()
		if <-ended; code != exitDone {
			t.Errorf("%s ends with exit status %d:\n%s", args[0], code, log)
		}
	})
	if log.await(envoytest.Limit(t), ended, serves) == nil {
		t.Fatalf("%s does not serve:\n%s", args[0], log)
	}
	return httpAddress.FindStringSubmatch(log.String())[1], adsAddress.FindStringSubmatch(log.String())[1]
}
