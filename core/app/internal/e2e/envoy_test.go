package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
)

// object is a JSON object.
type object = map[string]any

// envoy is a running Envoy.
type envoy struct {
	*envoytest.Proxy
	ports map[string]int // by name of the listener
}

// startEnvoy runs Envoy with the listeners until the test ends.
func startEnvoy(t *testing.T, listeners []object) *envoy {
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
	e := &envoy{Proxy: envoytest.Start(t, "envoy", config), ports: map[string]int{}}
	e.findPorts(t)
	return e
}

func loopback() object {
	return object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}}
}

func (e *envoy) findPorts(t *testing.T) {
	body, err := e.Get("/listeners?format=json")
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
	body, err := e.Get("/stats?usedonly&format=json&filter=rbac")
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
		if s.Value != 0 && !strings.HasPrefix(s.Name, rbac.CommaFilterName) && !strings.Contains(s.Name, rbac.SeveralFilterName) {
			out[s.Name] = s.Value
		}
	}
	return out
}
