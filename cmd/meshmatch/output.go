package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

var outputs = []string{"table", "json", "yaml"}

// output is the value of -o.
type output string

func (o *output) String() string {
	if *o == "" {
		return "table"
	}
	return string(*o)
}

func (o *output) Set(s string) error {
	if !slices.Contains(outputs, s) {
		return fmt.Errorf("must be table, json or yaml")
	}
	*o = output(s)
	return nil
}

func (*output) Type() string { return "format" }

// print writes an answer: as JSON or YAML, or by table for people.
func (g *globals) print(c *cobra.Command, answer any, table func(*page)) error {
	w := c.OutOrStdout()
	encode := map[output]func(any) ([]byte, error){"json": toJSON, "yaml": toYAML}[g.output]
	if encode != nil {
		data, err := encode(answer)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	p := newPage(w)
	table(p)
	return p.flush()
}

// toJSON indents by two spaces and leaves <, > and & alone.
func toJSON(answer any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(answer)
	return b.Bytes(), err
}
