package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// object is a JSON object.
type object = map[string]any

// envoyPath returns the Envoy to test with.
func envoyPath(t *testing.T) string {
	path := os.Getenv("ENVOY")
	switch {
	case path != "":
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("ENVOY is not set; run make e2e")
	}
	t.Skip("ENVOY is not set; make e2e fetches one and runs this test")
	return ""
}

// envoy is a running Envoy.
type envoy struct {
	admin string         // address
	ports map[string]int // by name of the listener
}

// startEnvoy runs Envoy with the listeners until the test ends.
func startEnvoy(t *testing.T, listeners []object) *envoy {
	path := envoyPath(t)
	dir := t.TempDir()
	config, err := json.Marshal(object{
		"admin":            object{"address": loopback()},
		"static_resources": object{"listeners": listeners},
		// The rules form compares the joined lines of a header (SPEC 7.6).
		"layered_runtime": object{"layers": []object{{
			"name": "static", "static_layer": object{"envoy.reloadable_features.rbac_match_headers_individually": false},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	configFile, adminFile, logFile := filepath.Join(dir, "envoy.json"), filepath.Join(dir, "admin"), filepath.Join(dir, "log")
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, "-c", configFile, "--use-dynamic-base-id", "--concurrency", "1",
		"--admin-address-path", adminFile, "--log-path", logFile, "--log-level", "warning")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-exited
	})
	e := &envoy{ports: map[string]int{}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if address, err := os.ReadFile(adminFile); err == nil && len(address) > 0 {
			e.admin = string(address)
			if body, err := e.get("/ready"); err == nil && strings.TrimSpace(body) == "LIVE" {
				break
			}
		}
		select {
		case err := <-exited:
			exited <- err
			log, _ := os.ReadFile(logFile)
			t.Fatalf("Envoy ended: %v\n%s", err, log)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("Envoy is not up after a minute")
		}
	}
	e.findPorts(t)
	return e
}

func loopback() object {
	return object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}}
}

func (e *envoy) get(path string) (string, error) {
	response, err := http.Get("http://" + e.admin + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, response.Status)
	}
	return string(body), err
}

func (e *envoy) findPorts(t *testing.T) {
	body, err := e.get("/listeners?format=json")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Listeners []struct {
			Name    string `json:"name"`
			Address struct {
				Socket struct {
					Port int `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	for _, l := range answer.Listeners {
		e.ports[l.Name] = l.Address.Socket.Port
	}
}

// counters returns Envoy's counters about RBAC that are not zero.
func (e *envoy) counters(t *testing.T) map[string]int {
	body, err := e.get("/stats?usedonly&format=json&filter=rbac")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Stats []struct {
			Name  string `json:"name"`
			Value int    `json:"value"`
		} `json:"stats"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, s := range answer.Stats {
		if s.Value != 0 {
			out[s.Name] = s.Value
		}
	}
	return out
}
