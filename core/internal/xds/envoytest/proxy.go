package envoytest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// startTimeout is how long a proxy may take until it is ready.
const startTimeout = time.Minute

// A Proxy is a running Envoy.
type Proxy struct {
	admin   string // the address of the admin interface
	log     string // a file
	command *exec.Cmd
	exited  chan struct{} // closed when the process has ended
}

// Run starts the given binary of Envoy with a bootstrap, and returns when the proxy is
// ready. Files of the proxy are in dir, under the given name. Files that the proxy
// itself writes, such as access logs, are complete after a tenth of a second. Without the
// argument --drain-time-s the drain time is a second.
func Run(binary, dir, name string, bootstrap []byte, args ...string) (*Proxy, error) {
	file := func(suffix string) string { return filepath.Join(dir, name+suffix) }
	if err := os.WriteFile(file(".json"), bootstrap, 0o600); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(file(".admin")); err != nil {
		return nil, err
	}
	p := &Proxy{log: file(".log"), exited: make(chan struct{})}
	p.command = exec.Command(binary, "-c", file(".json"), "--use-dynamic-base-id", "--concurrency", "1",
		"--admin-address-path", file(".admin"), "--log-path", p.log, "--log-level", "error",
		"--file-flush-interval-msec", "50")
	if !slices.Contains(args, "--drain-time-s") {
		args = append(args, "--drain-time-s", "1")
	}
	p.command.Args = append(p.command.Args, args...)
	EndWithParent(p.command)
	var output bytes.Buffer
	p.command.Stdout, p.command.Stderr = &output, &output
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.command.Wait() // a proxy is killed in the end
		close(p.exited)
	}()
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(10 * time.Millisecond) {
		if address, err := os.ReadFile(file(".admin")); err == nil && len(address) > 0 {
			p.admin = string(address)
			if body, err := p.Get("/ready"); err == nil && strings.TrimSpace(body) == "LIVE" {
				return p, nil
			}
		}
		select {
		case <-p.exited:
			return nil, fmt.Errorf("the Envoy %s ended: %s\n%s", name, &output, p.Log())
		default:
		}
		if time.Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("the Envoy %s is not ready after %s\n%s", name, startTimeout, p.Log())
		}
	}
}

// Stop kills the proxy and waits until it has ended.
func (p *Proxy) Stop() {
	_ = p.command.Process.Kill() // an error means that the process has ended
	<-p.exited
}

// Log returns what the proxy has logged so far: errors.
func (p *Proxy) Log() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// Get returns the body of a page of the admin interface.
func (p *Proxy) Get(path string) (string, error) {
	return p.ask(http.MethodGet, path)
}

// Post has the admin interface change something.
func (p *Proxy) Post(path string) error {
	_, err := p.ask(http.MethodPost, path)
	return err
}

func (p *Proxy) ask(method, path string) (string, error) {
	request, err := http.NewRequest(method, "http://"+p.admin+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(path + ": " + response.Status)
	}
	return string(body), err
}

// Validate has Envoy load a bootstrap without running it. The error is Envoy's reason
// to refuse it.
func Validate(binary, dir, name string, bootstrap []byte) error {
	config := filepath.Join(dir, name+".json")
	if err := os.WriteFile(config, bootstrap, 0o600); err != nil {
		return err
	}
	command := exec.Command(binary, "-c", config, "--mode", "validate", "--log-level", "error")
	EndWithParent(command)
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}
