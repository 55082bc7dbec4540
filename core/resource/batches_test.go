package resource_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// place matches positions, and the part of a path that leads to an item of a list, with the name
// of the item.
var place = regexp.MustCompile(`f:\d+:\d+|(items\[\d+\]\.)| \(Dataplane \w+\)`)

// Many documents decode to the same resources in each form of an input: one by one,
// in one line, as the items of a list, or in lists of lists.
func TestManyDocuments(t *testing.T) {
	const n = 2_000
	for name, change := range map[string]func(documents []string){
		"valid": func([]string) {},
		"errors": func(d []string) {
			d[700], d[1999] = strings.Replace(d[700], "80", "0", 1), `{"type": "Dataplane", "name": "no"}`
		},
		"twice": func(d []string) { d[10], d[1500] = d[1000], d[1000] },
	} {
		t.Run(name, func(t *testing.T) {
			documents := make([]string, n)
			for i := range documents {
				documents[i] = fmt.Sprintf(`{"type": "Dataplane", "name": "d%d", "networking": {"address": "10.0.0.1", "admin": {"port": 1}, "inbound": [{"port": 80, "tags": {"kuma.io/service": "%0100d"}}]}}`, i, i%7)
			}
			change(documents)
			list := func(documents []string) string {
				return `{"kind": "List", "apiVersion": "v1", "items": [` + "\n" + strings.Join(documents, ",\n") + "]}"
			}
			want, wantErrors := decodeMany(t, strings.Join(documents, "\n"))
			for form, text := range map[string]string{
				"one line":     strings.Join(documents, " "),
				"list":         list(documents),
				"lists":        list([]string{documents[0], list(documents[1:1000]), list(documents[1000:1300]), list(documents[1300:])}),
				"list in YAML": "kind: List\napiVersion: v1\nitems:\n- " + strings.Join(documents, "\n- ") + "\n",
				"list, others": list(documents[:800]) + "\n" + strings.Join(documents[800:], "\n"),
			} {
				set, errors := decodeMany(t, text)
				if diff := cmp.Diff(wantErrors, errors); diff != "" {
					t.Errorf("%s: errors: -one by one +%s:\n%s", form, form, diff)
				}
				if !reflect.DeepEqual(want, set) {
					t.Errorf("-one by one +%s:\n%.3000s", form, cmp.Diff(want, set))
				}
			}
		})
	}
}

// decodeMany decodes a text, checks the line numbers of its resources and errors, and
// returns both without positions.
func decodeMany(t *testing.T, text string) (set *resource.Set, errors string) {
	t.Helper()
	set, err := (&resource.Loader{Kinds: resource.NewKinds()}).Decode(t.Context(), resource.Input{Name: "f", Data: []byte(text)})
	if err != nil {
		return nil, place.ReplaceAllString(err.Error(), "")
	}
	lines := strings.Split(text, "\n")
	for _, d := range set.Dataplanes {
		if line := lines[d.Pos.Line-1]; !strings.HasPrefix(line[strings.Index(line[d.Pos.Column-1:], `"name"`)+d.Pos.Column-1:], `"name": "`+d.Name+`"`) {
			t.Fatalf("%s is at %s", d.Name, d.Pos)
		}
		d.Pos = diag.Position{}
	}
	for i, w := range set.Warnings {
		set.Warnings[i].Pos, set.Warnings[i].Path = diag.Position{}, place.ReplaceAllString(w.Path, "")
	}
	return set, ""
}
