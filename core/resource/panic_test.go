package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// bomb is a faulty type of an embedder.
type bomb struct {
	Fuses []string `json:"fuses"`
}

// Validate panics if there is no fuse.
func (b *bomb) Validate(*diag.At) { _ = b.Fuses[0] }

// A panic while a document is decoded is an error of that document, however its input
// is split and in whatever list it is. The errors of other documents are still
// reported.
func TestPanicIsAnErrorOfItsDocument(t *testing.T) {
	const fault = "the document cannot be read: internal error: runtime error: index out of range [0] with length 0; report this with the document"
	loader := resource.Loader{Kinds: kinds.All(), Documents: []resource.DocumentType{resource.DocumentOf[bomb]("", "Bomb")}}
	good := "type: Bomb\nname: good\nfuses: [a]\n---\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"one", "type: Bomb\nname: b\nfuses: []\n", []string{"in.yaml:1:1: " + fault}},
		{"JSON", `{"type": "Bomb", "name": "b", "fuses": []}`, []string{"in.yaml:1:1: " + fault}},
		{
			"among others", good + "type: Bomb\nname: b\nfuses: []\n---\ntype: Bomb\nname: c\nfuses: 1\n",
			[]string{"in.yaml:5:1: " + fault, "in.yaml:9:1: " + fault, "in.yaml:11:8: fuses: must be a list, not the number 1"},
		},
		{"in a list", "kind: List\napiVersion: v1\nitems:\n- {type: Bomb, name: good, fuses: [a]}\n- {type: Bomb, name: b, fuses: []}\n", []string{"in.yaml:5:3: items[1]: " + strings.Replace(fault, ";", " (Bomb b);", 1)}},
		{"in pieces", strings.Repeat(good, 8000) + "type: Bomb\nname: b\nfuses: []\n", []string{"in.yaml:32001:1: " + fault}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(test.text)})
			for _, want := range test.want {
				if !strings.Contains(fmt.Sprint(err)+"\n", want+"\n") {
					t.Errorf("no error %q in\n%.1000v", want, err)
				}
			}
		})
	}
	if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(good)}); err != nil {
		t.Errorf("after the faults: %v", err)
	}
}
