package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Template is a text with variables in Go's template syntax: {{ .Mesh }},
// {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }}
// and {{ label "key" }}. No other part of the syntax is accepted, so that the time to
// expand a template is proportional to its length.
type Template string

// templateVariables are the variables of a [Template].
var templateVariables = []string{"Mesh", "Zone", "Namespace", "Name", "ServiceAccount", "Workload"}

// maxTemplate is the limit of the length of a template, in bytes.
const maxTemplate = 4 << 10

// Validate checks the syntax.
func (t Template) Validate(at *diag.At) {
	if _, err := t.Parts(); err != nil {
		at.Errorf(diag.BadValue, "variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label \"key\" }}", "bad template: %v", err)
	}
}

// Piece is a piece of a [Template]; one of the fields is set.
type Piece struct {
	Text     string
	Variable string // without the dot, such as Mesh
	Label    string // the key
}

var errAction = errors.New("not one of the variables")

// Parts returns the pieces of the template in order.
func (t Template) Parts() ([]Piece, error) { return Parse(string(t), templateVariables) }

// Parse returns the pieces of a template with the given variables and label. Nothing
// of it is executed: a template of Go's language may run without an end (SPEC 1.2).
func Parse(text string, variables []string) ([]Piece, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are allowed", len(text), maxTemplate)
	}
	trees, err := parse.Parse("template", text, "{{", "}}", map[string]any{"label": ""})
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), "template: template:")
		return nil, errors.New("line " + text)
	}
	root := trees["template"].Root
	if root == nil {
		return nil, nil
	}
	var parts []Piece
	for _, node := range root.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			parts = append(parts, Piece{Text: string(n.Text)})
		case *parse.ActionNode:
			part, err := variable(n.Pipe, variables)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n, err)
			}
			parts = append(parts, part)
		default:
			return nil, fmt.Errorf("%s: %w", n, errAction)
		}
	}
	return parts, nil
}

func variable(pipe *parse.PipeNode, variables []string) (Piece, error) {
	if len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 {
		return Piece{}, errAction
	}
	args := pipe.Cmds[0].Args
	switch first := args[0].(type) {
	case *parse.FieldNode:
		if len(args) == 1 && len(first.Ident) == 1 && slices.Contains(variables, first.Ident[0]) {
			return Piece{Variable: first.Ident[0]}, nil
		}
	case *parse.IdentifierNode:
		if len(args) == 2 && first.Ident == "label" {
			if key, ok := args[1].(*parse.StringNode); ok && key.Text != "" {
				return Piece{Label: key.Text}, nil
			}
		}
	}
	return Piece{}, errAction
}
