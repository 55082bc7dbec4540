package strict_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// crate has a field of each shape.
type crate struct {
	Fruit  []fruit           `json:"fruit"`
	Best   *fruit            `json:"best,omitzero"`
	ByName map[string]*fruit `json:"byName,omitzero"`
	Ripens ripening          `json:"ripens,omitzero"`
	Note   note              `json:"note,omitzero"`
	Label  sticker           `json:"label,omitzero"`
	Spare  *int              `json:"spare"`
}

// ripening is a text with conditions.
type ripening time.Duration

func (r *ripening) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 {
		return fmt.Errorf("bad time %q", text)
	}
	*r = ripening(d)
	return nil
}

func (r ripening) MarshalText() ([]byte, error) { return []byte(time.Duration(r).String()), nil }

// note decodes itself.
type note string

func (n *note) DecodeAt(in *strict.Value) {
	if *n = note(in.Text()); len(*n) > 5 {
		in.At().Errorf(diag.BadValue, "write less", "is too long")
	}
}

type sticker string

func (s sticker) Validate(at *diag.At) {
	if strings.Contains(string(s), " ") {
		at.Errorf(diag.BadValue, "", "must have no spaces")
	}
}

// A value that was made in Go has the same errors as a file with the same
// content.
func TestValidateAsDecoded(t *testing.T) {
	fig, heavy, size, zero := fruit{Name: "fig"}, fruit{Name: "fig", Size: math.Inf(1)}, uint32(3), 0
	figs := []fruit{fig}
	for name, c := range map[string]struct {
		value    crate
		document string
	}{
		"no error":             {crate{Fruit: figs, Spare: &zero}, "{fruit: [{name: fig}], spare: 0}"},
		"empty list":           {crate{Fruit: []fruit{}, Spare: &zero}, "{fruit: [], spare: 0}"},
		"missing fields":       {crate{}, "{}"},
		"validator":            {crate{Fruit: []fruit{fig, {Name: "stone"}}, Spare: &zero}, "{fruit: [{name: fig}, {name: stone}], spare: 0}"},
		"word":                 {crate{Fruit: []fruit{{Name: "fig", Colour: "grean"}}, Spare: &zero}, "{fruit: [{name: fig, colour: grean}], spare: 0}"},
		"in a pointer":         {crate{Best: &fruit{Name: "stone"}, Fruit: figs, Spare: &zero}, "{best: {name: stone}, fruit: [{name: fig}], spare: 0}"},
		"in a mapping":         {crate{ByName: map[string]*fruit{"a.b": {Name: "stone"}}, Fruit: figs, Spare: &zero}, "{byName: {a.b: {name: stone}}, fruit: [{name: fig}], spare: 0}"},
		"null in a mapping":    {crate{ByName: map[string]*fruit{"a": nil}, Fruit: figs, Spare: &zero}, "{byName: {a: ~}, fruit: [{name: fig}], spare: 0}"},
		"text":                 {crate{Ripens: -1e9, Fruit: figs, Spare: &zero}, "{ripens: -1s, fruit: [{name: fig}], spare: 0}"},
		"decodes itself":       {crate{Note: "too long", Fruit: figs, Spare: &zero}, "{note: too long, fruit: [{name: fig}], spare: 0}"},
		"scalar's validator":   {crate{Label: "a b", Fruit: figs, Spare: &zero}, "{label: a b, fruit: [{name: fig}], spare: 0}"},
		"another arm":          {crate{Best: &fruit{Name: "fig", Pack: &pack{Type: "Bag", Box: &box{Size: size}}}, Fruit: figs, Spare: &zero}, "{best: {name: fig, pack: {type: Bag, box: {size: 3}}}, fruit: [{name: fig}], spare: 0}"},
		"an arm missing":       {crate{Best: &fruit{Name: "fig", Pack: &pack{Type: "Box"}}, Fruit: figs, Spare: &zero}, "{best: {name: fig, pack: {type: Box}}, fruit: [{name: fig}], spare: 0}"},
		"an unknown type":      {crate{Best: &fruit{Name: "fig", Pack: &pack{Type: "Boks", Bag: &bag{}}}, Fruit: figs, Spare: &zero}, "{best: {name: fig, pack: {type: Boks, bag: {}}}, fruit: [{name: fig}], spare: 0}"},
		"a sibling is missing": {crate{Fruit: []fruit{{Name: "stone"}}}, "{fruit: [{name: stone}]}"},
		"infinity":             {crate{Fruit: []fruit{heavy}, Spare: &zero}, "{fruit: [{name: fig, size: +.inf}], spare: 0}"},
	} {
		t.Run(name, func(t *testing.T) {
			var made, read diag.Sink
			ok := strict.Validate(diag.Root(diag.GoValue("MeshCrate a"), &made), &c.value)
			for doc := range strict.Documents("f", strict.Chunks([]byte(c.document), 1)[0], strict.DefaultLimits, &read) {
				strict.Decode(doc.Root(), &crate{})
			}
			got, want := messages(made.Err()), messages(read.Err())
			got = strings.ReplaceAll(got, "+Inf", "+.inf")
			if got != want || ok != (want == "") {
				t.Errorf("got %v\n%s\nwant\n%s", ok, got, want)
			}
			if err := made.Err(); err != nil && !strings.HasPrefix(err.Error(), "MeshCrate a: ") {
				t.Errorf("the error is not at the value's name: %v", err)
			}
		})
	}
}

// messages returns paths and messages without positions.
func messages(err error) string {
	var all diag.Errors
	errors.As(err, &all)
	var b strings.Builder
	for _, d := range diag.Sorted(withoutPositions(all)) {
		fmt.Fprintln(&b, d.Error())
	}
	return b.String()
}

func withoutPositions(all diag.Errors) diag.Errors {
	out := make(diag.Errors, len(all))
	for i, d := range all {
		d.Pos = diag.Position{}
		out[i] = d
	}
	return out
}

func TestValidateRefusesWhatNoFileHas(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"bytes": {&fruit{Name: "\xff"}, `v: name: must be UTF-8, not "\xff"`},
		"nil element": {&struct {
			List []*fruit `json:"list"`
		}{[]*fruit{nil}}, "v: list[0]: must not be null; leave the field out instead"},
		"not a number": {&fruit{Name: "fig", Size: math.NaN()}, "v: size: must be a finite number, not the number NaN"},
	} {
		var sink diag.Sink
		strict.Validate(diag.Root(diag.GoValue("v"), &sink), c.value)
		got := ""
		if err := sink.Err(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
