package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A tool of the MCP server is a command whose answer is JSON. It only reads.
type tool struct {
	name, about string
	command     []string
	inputs      []toolInput
}

// toolInput is an input of a tool: an argument of the command, a flag, or its standard input.
type toolInput struct {
	name, about string
	required    bool
	flag        string // empty: an argument
	list        bool   // the flag may be repeated
	stdin       bool   // the flag names standard input, and the value is its content
}

var (
	dataplaneInput = toolInput{name: "dataplane", about: "the name of a dataplane, or NAMESPACE/NAME", required: true}
	outboundInput  = toolInput{name: "outbound", about: "an outbound: the name of its service or destination, or its port", flag: "outbound"}
	inboundInput   = toolInput{name: "inbound", about: "an inbound: its name or its port", flag: "inbound"}
)

// tools are the tools of the server. They are a part of its contract (SPEC 10).
var tools = []tool{
	{name: "inspect", about: "The effective configuration of a dataplane: every conf, and the items that set it.", command: []string{"inspect", "dataplane", "--explain"}, inputs: []toolInput{dataplaneInput}},
	{name: "conf", about: "The merged conf of one policy kind for an outbound or an inbound of a dataplane, with the item that set each field.", command: []string{"conf", "--explain"}, inputs: []toolInput{
		dataplaneInput, {name: "kind", about: "a policy kind, such as MeshTimeout", required: true, flag: "kind"}, outboundInput, inboundInput,
	}},
	{name: "why", about: "What the policies of a kind, or one of them, do on a dataplane, and why they do not.", command: []string{"why"}, inputs: []toolInput{
		{name: "kind", about: "a policy kind, such as MeshTimeout", required: true}, {name: "policy", about: "the name of a policy; without it all of the kind"}, dataplaneInput, outboundInput, inboundInput,
	}},
	{name: "access", about: "Whether a request to an inbound is allowed, by which entry of which policy, and which entry nearly decides.", command: []string{"access", "--explain"}, inputs: []toolInput{
		dataplaneInput, inboundInput, {name: "from", about: "the client: a SPIFFE ID, or a dataplane", flag: "from"},
		{name: "method", about: "the HTTP method", flag: "method"}, {name: "path", about: "the HTTP path", flag: "path"}, {name: "headers", about: "headers, each as NAME=VALUE", flag: "header", list: true},
	}},
	{name: "reach", about: "Which clients may reach which inbounds.", command: []string{"reach"}, inputs: []toolInput{
		{name: "to", about: "only the inbounds of this service, or of this dataplane", flag: "to"}, {name: "from", about: "only this client: a SPIFFE ID, a service or a dataplane", flag: "from"},
	}},
	{name: "diff", about: "What changes for each dataplane, and which requests are newly allowed or denied, if resources were added or replaced. Nothing is stored.", command: []string{"diff"}, inputs: []toolInput{
		{name: "apply", about: "the resources, in YAML or JSON", required: true, flag: "apply", stdin: true},
	}},
	{name: "check", about: "All errors and findings about the mesh: what is invalid, has no effect, or opens more than its author probably meant.", command: []string{"check"}},
}

// maxToolInput limits a message of the client, and maxToolOutput the answer.
const (
	maxToolInput  = 1 << 20
	maxToolOutput = 4 << 20
)

func newMCP(g *globals) *cobra.Command {
	return withHelp("mcp", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case len(g.files) == 0:
				return errNoFiles
			case slices.Contains(g.files, resource.Stdin):
				return usagef("standard input is the client's; use -f FILE, -f DIRECTORY or -f STORE")
			}
			transport := &mcp.IOTransport{Reader: io.NopCloser(c.InOrStdin()), Writer: writeCloser{c.OutOrStdout()}, MaxLineLength: maxToolInput}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			if err := mcpServer(g, sharedArguments(g, c)).Run(ctx, transport); ctx.Err() == nil {
				return err
			}
			return nil // a signal ended it
		},
	})
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// sharedArguments returns the flags of all commands as they were given.
func sharedArguments(g *globals, c *cobra.Command) (args []string) {
	c.InheritedFlags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, value := range values {
			if f.Name != "output" && f.Name != "namespace" && f.Name != "file" {
				args = append(args, "--"+f.Name+"="+value)
			}
		}
	})
	for _, file := range g.files {
		args = append(args, "--file="+file)
	}
	if g.namespace != nil {
		args = append(args, "--namespace="+*g.namespace)
	}
	return args
}

// mcpServer returns a server whose tools run commands with shared arguments.
func mcpServer(g *globals, shared []string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "meshmatch", Version: versionName()}, nil)
	var one sync.Mutex // a question may take all processors
	for _, t := range tools {
		open := false
		server.AddTool(&mcp.Tool{
			Name: t.name, Description: t.about, InputSchema: t.schema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &open},
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			call, err := t.call(r.Params.Arguments)
			if err != nil {
				return failedTool(err.Error()), nil
			}
			one.Lock()
			defer one.Unlock()
			return g.runTool(ctx, slices.Concat(t.command, []string{"--output=json"}, shared, call.flags, []string{"--"}, call.arguments), call.stdin), nil
		})
	}
	return server
}

// runTool runs a command. An answer that is "no" is an answer; without one, what is on standard
// error is the failure.
func (g *globals) runTool(ctx context.Context, args []string, stdin string) *mcp.CallToolResult {
	var stdout, stderr strings.Builder
	fresh := Program{}.globals()
	fresh.kinds, fresh.translators = g.kinds, g.translators
	execute(ctx, fresh, args, strings.NewReader(stdin), &stdout, &stderr)
	switch {
	case stdout.Len() == 0:
		return failedTool(stderr.String())
	case stdout.Len() > maxToolOutput:
		return failedTool(fmt.Sprintf("the answer has %d bytes, more than %d; ask about a part of the mesh", stdout.Len(), maxToolOutput))
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: stdout.String()}}}
	if stderr.Len() > 0 {
		result.Content = append(result.Content, &mcp.TextContent{Text: stderr.String()})
	}
	return result
}

func failedTool(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// schema returns the JSON Schema of the inputs of a tool.
func (t *tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, in := range t.inputs {
		property := map[string]any{"type": "string", "description": in.about}
		if in.list {
			property = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": in.about}
		}
		properties[in.name] = property
		if in.required {
			required = append(required, in.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// toolCall is what a client asks of a command. No value can become another flag: flags are one
// word with their values, and arguments follow "--".
type toolCall struct {
	flags, arguments []string
	stdin            string
}

// call reads the inputs of a client.
func (t *tool) call(data json.RawMessage) (call toolCall, err error) {
	given := map[string]json.RawMessage{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &given); err != nil {
			return call, fmt.Errorf("the inputs are no object: %w", err)
		}
	}
	for _, in := range t.inputs {
		value, has := given[in.name]
		delete(given, in.name)
		if !has && in.required {
			return call, fmt.Errorf("the input %s is missing: %s", in.name, in.about)
		} else if !has {
			continue
		}
		values := make([]string, 1)
		into := any(&values[0])
		if in.list {
			into = &values
		}
		if err := json.Unmarshal(value, into); err != nil {
			return call, fmt.Errorf("the input %s is malformed: %w", in.name, err)
		}
		switch {
		case in.stdin:
			call.stdin = values[0]
			call.flags = append(call.flags, "--"+in.flag+"="+resource.Stdin)
		case in.flag == "":
			call.arguments = append(call.arguments, values[0])
		default:
			for _, v := range values {
				call.flags = append(call.flags, "--"+in.flag+"="+v)
			}
		}
	}
	for name := range given {
		return call, fmt.Errorf("the tool %s has no input %q", t.name, name)
	}
	return call, nil
}
