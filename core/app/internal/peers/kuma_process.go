package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/resource"
)

// command and kumaAnswer are lines of the protocol of the program in directory kuma.
type command struct {
	Do         string            `json:"do"`
	Resources  []json.RawMessage `json:"resources,omitempty"`
	Mesh       string            `json:"mesh,omitempty"`
	Dataplanes []string          `json:"dataplanes,omitempty"`
	Confs      []json.RawMessage `json:"confs,omitempty"`
	Texts      []string          `json:"texts,omitempty"`
	Times      int               `json:"times,omitempty"`
}

type kumaAnswer struct {
	Error   string            `json:"error"`
	Seconds float64           `json:"seconds"`
	Allocs  float64           `json:"allocs"`
	Result  []json.RawMessage `json:"result"`
}

const kumaModule = "github.com/kumahq/kuma"

// goCommand returns the go command that make peers uses.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// kumaVersion returns the version of Kuma that the program requires.
func kumaVersion() string {
	out, err := exec.Command(goCommand(), "mod", "edit", "-json", filepath.Join("kuma", "go.mod")).Output()
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err == nil {
		err = json.Unmarshal(out, &file)
	}
	for _, m := range file.Require {
		if m.Path == kumaModule {
			return m.Version
		}
	}
	return fmt.Sprintf("unknown (%v)", err)
}

// kumaProgram is where the program is built: go build links it again only if it has changed.
var kumaProgram = filepath.Join("..", "..", "..", "..", ".cache", "peers", "kuma")

// errNoKuma indicates that Kuma's packages could not be had or built here.
var errNoKuma = errors.New("Kuma cannot be had")

// kumaBuild is the only build of the program in this process.
var kumaBuild struct {
	once sync.Once
	err  error
}

// buildKuma builds the program, once.
func buildKuma(ctx context.Context) error {
	kumaBuild.once.Do(func() {
		file, err := filepath.Abs(kumaProgram)
		if err != nil {
			kumaBuild.err = err
			return
		}
		build := exec.CommandContext(ctx, goCommand(), "build", "-C", "kuma", "-mod=readonly", "-ldflags", "-s -w", "-o", file, ".")
		if out, err := build.CombinedOutput(); err != nil {
			kumaBuild.err = fmt.Errorf("%w: go build in core/app/internal/peers/kuma: %w: %s", errNoKuma, err, lastLines(out, 2))
		}
	})
	return kumaBuild.err
}

// lastLines returns the end of the output of go build, in one line, without its progress.
func lastLines(out []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "go: downloading ") })
	return strings.Join(lines[max(0, len(lines)-n):], " ")
}

// A kumaProcess is the running program.
type kumaProcess struct {
	command *exec.Cmd
	input   io.WriteCloser
	encode  *json.Encoder
	decode  *json.Decoder
}

// startKuma starts the program and gives it the resources.
func startKuma(ctx context.Context, set *resource.Set) (*kumaProcess, error) {
	if err := buildKuma(ctx); err != nil {
		return nil, err
	}
	p := &kumaProcess{command: exec.CommandContext(ctx, kumaProgram)}
	p.command.Stderr = os.Stderr
	var err error
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
		return a, fmt.Errorf("the answer of core/app/internal/peers/kuma: %w", err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("core/app/internal/peers/kuma: %s", a.Error)
	}
	return a, nil
}

// addKuma adds Kuma as a contender, which does a command with the resources. The results of it
// are brought into the form that is compared. If Kuma cannot be had here, the contest goes on
// without it, and notes why.
func (c *contest) addKuma(ctx context.Context, set *resource.Set, do command, compared func([]json.RawMessage) (string, error)) error {
	p, err := startKuma(ctx, set)
	if errors.Is(err, errNoKuma) {
		c.missing = err
		return nil
	}
	if err != nil {
		return err
	}
	c.close = p.close
	c.memory = func() float64 { return usage.PeakMemory(fmt.Sprint(p.command.Process.Pid)) }
	c.contenders = append(c.contenders, contender{
		name: kuma,
		answer: func() (string, error) {
			a, err := p.ask(do)
			if err != nil {
				return "", err
			}
			return compared(a.Result)
		},
		elsewhere: func(n int) (seconds, allocs float64, err error) {
			times := do
			times.Times = n
			a, err := p.ask(times)
			return a.Seconds, a.Allocs, err
		},
	})
	return nil
}
