package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// command and kumaAnswer are lines of the protocol of the program in directory kuma.
type command struct {
	Do         string            `json:"do"`
	Resources  []json.RawMessage `json:"resources,omitempty"`
	Mesh       string            `json:"mesh,omitempty"`
	Dataplanes []string          `json:"dataplanes,omitempty"`
	Confs      []json.RawMessage `json:"confs,omitempty"`
	Times      int               `json:"times,omitempty"`
}

type kumaAnswer struct {
	Error   string            `json:"error"`
	Seconds float64           `json:"seconds"`
	Allocs  float64           `json:"allocs"`
	Result  []json.RawMessage `json:"result"`
}

const kumaModule = "github.com/kumahq/kuma"

// kumaVersion returns the version of Kuma that the program has.
func kumaVersion() (string, error) {
	out, err := exec.Command("go", "list", "-C", "kuma", "-m", "-f", "{{.Version}}", kumaModule).Output()
	return strings.TrimSpace(string(out)), err
}

// buildKuma builds the program, once, and returns its file.
var buildKuma = sync.OnceValues(func() (string, error) {
	directory, err := os.MkdirTemp("", "peers-kuma-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(directory, "kuma")
	if out, err := exec.Command("go", "build", "-C", "kuma", "-o", file, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building bench/peers/kuma: %w\n%s", err, out)
	}
	return file, nil
})

// A kumaProcess is the running program.
type kumaProcess struct {
	command *exec.Cmd
	input   io.WriteCloser
	encode  *json.Encoder
	decode  *json.Decoder
}

// startKuma starts the program and gives it the resources.
func startKuma(ctx context.Context, set *resource.Set) (*kumaProcess, error) {
	file, err := buildKuma()
	if err != nil {
		return nil, err
	}
	p := &kumaProcess{command: exec.CommandContext(ctx, file)}
	p.command.Stderr = os.Stderr
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.encode, p.decode = json.NewEncoder(p.input), json.NewDecoder(output)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	text, err := shape.JSON(set)
	if err != nil {
		return nil, err
	}
	load := command{Do: "load", Resources: []json.RawMessage{[]byte(`{"type":"Mesh","name":"` + shape.Mesh + `"}`)}}
	for line := range bytes.Lines(text) {
		load.Resources = append(load.Resources, line)
	}
	if _, err := p.ask(load); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close ends the program.
func (p *kumaProcess) close() {
	_ = p.input.Close() // its input ends
	_ = p.command.Wait()
}

func (p *kumaProcess) ask(c command) (kumaAnswer, error) {
	var a kumaAnswer
	if err := p.encode.Encode(c); err != nil {
		return a, err
	}
	if err := p.decode.Decode(&a); err != nil {
		return a, fmt.Errorf("the answer of bench/peers/kuma: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("bench/peers/kuma: %s", a.Error)
	}
	return a, nil
}

// contender returns a contender that has the program do a command, whose result is brought into
// the form that is compared.
func (p *kumaProcess) contender(c command, compared func([]json.RawMessage) (string, error)) contender {
	return contender{
		name: kuma,
		answer: func() (string, error) {
			a, err := p.ask(c)
			if err != nil {
				return "", err
			}
			return compared(a.Result)
		},
		elsewhere: func(n int) (seconds, allocs float64, err error) {
			times := c
			times.Times = n
			a, err := p.ask(times)
			return a.Seconds, a.Allocs, err
		},
	}
}
