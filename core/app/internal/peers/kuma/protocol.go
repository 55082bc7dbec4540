package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/kumahq/kuma/pkg/core/resources/model"
	"github.com/kumahq/kuma/pkg/core/resources/model/rest"
)

// A command is one line of the input.
type command struct {
	Do        string            `json:"do"` // load, rules, merge, xds, edit, json or yaml
	Resources []json.RawMessage `json:"resources,omitempty"`
	// Mesh and Dataplanes are what xds and edit make resources for, and rules has the confs of
	// the first dataplane.
	Mesh       string            `json:"mesh,omitempty"`
	Dataplanes []string          `json:"dataplanes,omitempty"`
	Confs      []json.RawMessage `json:"confs,omitempty"`
	Texts      []string          `json:"texts,omitempty"` // the documents that json and yaml read
	// Times is how often the work is done; 0: it is done once, and its result is returned.
	Times int `json:"times,omitempty"`
}

// An answer is one line of the output.
type answer struct {
	Error   string            `json:"error,omitempty"`
	Seconds float64           `json:"seconds"` // of all times together
	Allocs  float64           `json:"allocs"`  // likewise
	Result  []json.RawMessage `json:"result,omitempty"`
}

func main() {
	register()
	in := bufio.NewReader(os.Stdin)
	decode, encode := json.NewDecoder(in), json.NewEncoder(os.Stdout)
	var w worker
	for {
		var c command
		if err := decode.Decode(&c); err != nil {
			return // the other side has ended
		}
		a, err := w.run(&c)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := encode.Encode(a); err != nil {
			return
		}
	}
}

func (w *worker) run(c *command) (answer, error) {
	asked := request{c.Mesh, c.Dataplanes}
	switch c.Do {
	case "load":
		return answer{}, w.load(c.Resources)
	case "rules":
		d, err := w.dataplane(c.Dataplanes[0])
		if err != nil {
			return answer{}, err
		}
		return measure(c.Times, func() error { return w.rules(d) }, w.encodedConfs)
	case "merge":
		confs, err := decodeConfs(c.Confs)
		if err != nil {
			return answer{}, err
		}
		return measure(c.Times, func() error { return w.merge(confs) }, w.encodedConfs)
	case "xds":
		return measure(c.Times, func() error { return w.proxies.fromNothing(asked) }, w.proxies.encoded)
	case "edit":
		versions, err := decodeAll(c.Resources)
		if err != nil {
			return answer{}, err
		}
		next := 0
		return measure(c.Times, func() error {
			r := versions[next%len(versions)]
			next++
			return w.proxies.afterEdit(r, asked)
		}, w.proxies.encoded)
	case "json":
		return w.measureReading(c, rest.JSON.UnmarshalCore)
	case "yaml":
		return w.measureReading(c, rest.YAML.UnmarshalCore)
	}
	return answer{}, fmt.Errorf("unknown command %q", c.Do)
}

// measureReading measures how documents are read and validated, one after the other, as Kuma's
// API and kumactl do.
func (w *worker) measureReading(c *command, unmarshal func([]byte) (model.Resource, error)) (answer, error) {
	var texts [][]byte
	for _, text := range c.Texts {
		texts = append(texts, []byte(text))
	}
	return measure(c.Times, func() error {
		w.documents = w.documents[:0]
		for _, text := range texts {
			r, err := unmarshal(text)
			if err != nil {
				return err
			}
			w.documents = append(w.documents, r)
		}
		return nil
	}, w.encodedDocuments)
}

// measure does the work a number of times, or once and returns its result.
func measure(times int, work func() error, result func() ([]json.RawMessage, error)) (answer, error) {
	if times == 0 {
		if err := work(); err != nil {
			return answer{}, err
		}
		r, err := result()
		return answer{Result: r}, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range times {
		if err := work(); err != nil {
			return answer{}, err
		}
	}
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return answer{Seconds: elapsed.Seconds(), Allocs: float64(after.Mallocs - before.Mallocs)}, nil
}
