package strict_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Validate is called although a part of the value has errors.
func TestErrorsDoNotHideOthers(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a sibling field":     {"name: stone\nweight: x", "f.yaml:1:7: name: is no fruit; eat something else\nf.yaml:2:9: weight: must be a whole number, not the string \"x\""},
		"a field within":      {"name: stone\nseeds: [x]", "f.yaml:1:7: name: is no fruit; eat something else\nf.yaml:2:9: seeds[0]: must be a whole number, not the string \"x\""},
		"an unknown field":    {"name: stone\nshape: x", "f.yaml:1:7: name: is no fruit; eat something else\nf.yaml:2:1: shape: unknown field; one of \"name\", \"colour\", \"weight\", \"ripe\", \"tags\", \"seeds\", \"pack\", \"size\""},
		"another arm's field": {"name: fig\npack: {type: Bag, lid: 1, box: {size: x}}", "f.yaml:2:24: pack.lid: must be true or false, not the number 1\nf.yaml:2:32: pack.box: is not allowed with type \"Bag\"; remove it or change the type\nf.yaml:2:39: pack.box.size: must be a whole number, not the string \"x\""},
		"an unknown type":     {"name: fig\npack: {type: Boks, box: {size: 1}}", "f.yaml:2:14: pack.type: unknown value \"Boks\"; did you mean \"Box\"?"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := decode(t, c.in); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// basket reports errors at all its parts.
type basket struct {
	Label string  `json:"label"`
	Fruit []fruit `json:"fruit,omitzero"`
}

func (*basket) Validate(at *diag.At) {
	at.Errorf(diag.BadValue, "", "the basket")
	at.Field("label").Errorf(diag.BadValue, "", "the label")
	at.Field("fruit").Index(0).Errorf(diag.BadValue, "", "the fruit")
	at.Field("fruit").Index(0).Field("name").Field("x").Errorf(diag.BadValue, "", "within the name")
	at.Field("fruit").Index(1).Errorf(diag.BadValue, "", "the other fruit")
}

// An error of a validator is dropped if its place already has an error.
func TestValidatorsDoNotRepeat(t *testing.T) {
	var sink diag.Sink
	for doc := range strict.Documents("f", strict.Chunks([]byte("label: a\nfruit: [{name: 1}, {name: fig}]"), 1)[0], strict.DefaultLimits, &sink) {
		if strict.Decode(doc.Root(), &basket{}) {
			t.Error("no error is found")
		}
	}
	const want = "f:1:8: label: the label\n" +
		`f:2:16: fruit[0].name: must be a string, not the number 1; write it in quotes: "1"` + "\n" +
		"f:2:20: fruit[1]: the other fruit"
	if got := sink.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
