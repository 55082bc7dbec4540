package permissiontest

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:embed stories
var files embed.FS

// Story contains policies for a dataplane, and requests to it with their
// answers. The stories are the user stories and examples of the documents, and
// the cases that SPEC 5.7 and 7 name.
type Story struct {
	Name     string
	Set      *resource.Set
	Requests []Exchange
}

// Exchange is a request to an inbound and its answer.
type Exchange struct {
	Line    string // of the story
	Inbound string
	Client  *Call
	Want    string // in the format of [Text]
}

// Stories returns the stories, sorted by name.
func Stories() ([]Story, error) {
	entries, err := files.ReadDir("stories")
	if err != nil {
		return nil, err
	}
	var out []Story
	for _, entry := range entries {
		data, err := files.ReadFile(path.Join("stories", entry.Name()))
		if err != nil {
			return nil, err
		}
		story, err := parse(strings.TrimSuffix(entry.Name(), ".txtar"), txtar.Parse(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		out = append(out, story)
	}
	return out, nil
}

func parse(name string, archive *txtar.Archive) (Story, error) {
	s := Story{Name: name}
	for _, file := range archive.Files {
		switch file.Name {
		case "policies.yaml":
			loader := resource.Loader{Kinds: kinds.All()}
			set, err := loader.Decode(context.Background(), resource.Input{Name: file.Name, Data: file.Data})
			if err != nil {
				return s, err
			}
			s.Set = set
		case "requests":
			for line := range strings.Lines(string(file.Data)) {
				exchange, err := parseExchange(strings.TrimSpace(line))
				if err != nil {
					return s, err
				}
				s.Requests = append(s.Requests, exchange)
			}
		default:
			return s, fmt.Errorf("unknown file %q", file.Name)
		}
	}
	return s, nil
}

// parseExchange reads
//
//	INBOUND [URI-SAN]... [METHOD PATH] [sni=S] [header:N=V]... [tag:K=V]... => ANSWER
//
// In a header's value, \_ is a space.
func parseExchange(line string) (Exchange, error) {
	asked, want, ok := strings.Cut(line, " => ")
	words := strings.Fields(asked)
	if !ok || len(words) == 0 {
		return Exchange{}, fmt.Errorf("%q is not a request with its answer", line)
	}
	q := &Call{}
	tags := map[string]string{}
	for _, word := range words[1:] {
		key, value, assigned := strings.Cut(word, "=")
		kind, name, _ := strings.Cut(key, ":")
		switch {
		case strings.Contains(key, "://"):
			q.URIs = append(q.URIs, word)
		case strings.HasPrefix(word, "/"):
			q.Path = word
		case assigned && key == "sni":
			q.SNI = value
		case assigned && kind == "header":
			q.Lines = append(q.Lines, request.Header{Name: name, Value: strings.ReplaceAll(value, `\_`, " ")})
		case assigned && kind == "tag":
			tags[name] = value
		default:
			q.Method = word
		}
	}
	q.Tags = resource.NewTags(tags)
	return Exchange{Line: line, Inbound: words[0], Client: q, Want: want}, nil
}

// Text prints an answer in the format of the stories: each decision with the
// name of the policy, the list and the index, or with "default".
func Text(a permission.Answer) string {
	text := decisionText(a.Decision)
	if a.HasShadow {
		text += " shadow " + decisionText(a.Shadow)
	}
	return text
}

func decisionText(d permission.Decision) string {
	if d.By == nil {
		return d.String() + " default"
	}
	list := ""
	if d.By.List != permission.From {
		list = d.By.List.String()
	}
	name := strings.Split(d.By.KRI, "_")[5]
	return fmt.Sprintf("%s %s %s[%d]", d, name, list, d.By.Index)
}
