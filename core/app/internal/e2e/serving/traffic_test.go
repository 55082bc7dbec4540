package serving

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// traffic is requests that are sent without a pause, and their answers.
type traffic struct {
	t    *testing.T
	stop func()

	mu      sync.Mutex
	answers int
	apps    map[string]int // answers by workload since the last call of forget
	version string         // the header x-version of the last answer
}

const (
	senders = 3
	between = 3 * time.Millisecond // requests of one sender
)

// startTraffic sends requests to a URL until it is stopped or the test ends. Each
// request without the answer 200 fails the test.
func startTraffic(t *testing.T, url string) *traffic {
	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{t: t, apps: map[string]int{}}
	var running sync.WaitGroup
	tr.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(tr.stop)
	for range senders {
		running.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				if err := tr.send(client, url); err != nil {
					t.Errorf("at %s: %v", time.Now().Format("05.000"), err)
				}
				time.Sleep(between)
			}
		})
	}
	return tr
}

func (tr *traffic) send(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	if err != nil {
		return err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.answers++
	tr.apps[response.Header.Get("x-app")]++
	tr.version = response.Header.Get("x-version")
	return nil
}

// sees waits until answers have a version.
func (tr *traffic) sees(version string) {
	tr.t.Helper()
	eventually(tr.t, "answers have the version "+version, func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.version == version
	})
}

// flows waits until each of some workloads has answered more requests.
func (tr *traffic) flows(apps ...string) {
	tr.t.Helper()
	tr.mu.Lock()
	clear(tr.apps)
	tr.mu.Unlock()
	for _, app := range apps {
		eventually(tr.t, app+" answers", func() bool {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			return tr.apps[app] >= senders
		})
	}
}

// only waits until a workload alone has answered some requests in a row.
func (tr *traffic) only(app string) {
	tr.t.Helper()
	eventually(tr.t, app+" alone answers", func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		if len(tr.apps) > 1 || tr.apps[app] == 0 {
			clear(tr.apps)
		}
		return tr.apps[app] >= 10*senders
	})
}
