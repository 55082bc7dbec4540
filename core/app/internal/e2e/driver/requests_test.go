package driver

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// requests are sent to all listeners without a pause, each on a connection of its own. The
// answers are the names of upstreams.
type requests struct {
	client *http.Client
	scheme string
	ports  []uint32

	mu     sync.Mutex
	sent   int
	failed [][]error // of each listener
	last   []string  // the last answer of each listener; empty after a failure
	streak []int     // how often it was given in a row
}

// send sends requests to ports of 127.0.0.1 until the test ends.
func send(t *testing.T, withTLS bool, ports []uint32) *requests {
	r := &requests{
		client: &http.Client{
			// The driver gives up after 0.1 s. A busy machine may take longer.
			Timeout: 10 * time.Second,
			Transport: &http.Transport{
				DisableKeepAlives: true,
				TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // as the driver does
			},
		},
		scheme: "http", ports: ports,
		failed: make([][]error, len(ports)), last: make([]string, len(ports)), streak: make([]int, len(ports)),
	}
	if withTLS {
		r.scheme = "https"
	}
	ctx := t.Context()
	var senders sync.WaitGroup
	for i, port := range ports {
		senders.Go(func() {
			for ctx.Err() == nil {
				answer, err := r.one(port)
				r.record(i, answer, err)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	t.Cleanup(senders.Wait)
	return r
}

// one sends one request.
func (r *requests) one(port uint32) (answer string, err error) {
	response, err := r.client.Get(fmt.Sprintf("%s://127.0.0.1:%d", r.scheme, port))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

func (r *requests) record(listener int, answer string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
	if err != nil {
		r.failed[listener] = append(r.failed[listener], err)
		answer = ""
	}
	if answer != r.last[listener] {
		r.last[listener], r.streak[listener] = answer, 0
	}
	r.streak[listener]++
}

// take returns the number of requests since the last call, and the failures of each listener.
func (r *requests) take() (sent int, failed [][]error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent, failed = r.sent, r.failed
	r.sent, r.failed = 0, make([][]error, len(r.ports))
	return sent, failed
}

// agree reports whether each listener has given an answer a number of times in a row.
func (r *requests) agree(answer string, times int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, last := range r.last {
		if last != answer || r.streak[i] < times {
			return false
		}
	}
	return true
}

// String returns the last answers.
func (r *requests) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%q, %d times", r.last, r.streak)
}
