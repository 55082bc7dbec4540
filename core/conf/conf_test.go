package conf_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// decode reads YAML into a T. It returns the value as JSON, or the errors without the
// name of the file.
func decode[T any](t *testing.T, text string) string {
	t.Helper()
	var sink diag.Sink
	var value T
	for _, chunk := range strict.Chunks([]byte(text), 1) {
		for doc := range strict.Documents("f", chunk, strict.DefaultLimits, &sink) {
			strict.Decode(doc.Root(), &value)
		}
	}
	if err := sink.Err(); err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// cases maps YAML to what decode returns.
type cases map[string]string

func check[T any](t *testing.T, table cases) {
	t.Helper()
	for in, want := range table {
		if got := decode[T](t, in); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// marshal returns the JSON of a value that was not decoded.
func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDuration(t *testing.T) {
	check[conf.Duration](t, cases{
		`90s`:            `"1m30s"`,
		`60m`:            `"1h"`,
		`1h0m0s`:         `"1h"`,
		`3600s`:          `"1h"`,
		`61m`:            `"1h1m"`,
		`1h0m1s`:         `"1h0m1s"`,
		`0.5s`:           `"500ms"`,
		`1500ms`:         `"1.5s"`,
		`0s`:             `"0s"`,
		`10m`:            `"10m"`,
		`120h`:           `"120h"`,
		`0`:              `f:1:1: bad duration "0"; write a number with a unit, such as 500ms, 15s or 1h30m`,
		`-1s`:            `f:1:1: bad duration "-1s"; it must not be negative`,
		`2562047h47m15s`: `"2562047h47m15s"`,
		`2562047h47m16s`: `f:1:1: bad duration "2562047h47m16s"; it must not be longer than 2562047h47m15s`,
		`15`:             `f:1:1: bad duration "15"; write a number with a unit, such as 500ms, 15s or 1h30m`,
		`"1 s"`:          `f:1:1: bad duration "1 s"; write a number with a unit, such as 500ms, 15s or 1h30m`,
		`1d`:             `f:1:1: bad duration "1d"; write a number with a unit, such as 500ms, 15s or 1h30m`,
		`""`:             `f:1:1: bad duration ""; write a number with a unit, such as 500ms, 15s or 1h30m`,
		`[1s]`:           `f:1:1: must be a string, not a list`,
		`999999h`:        `"999999h"`,
	})
	check[conf.PositiveDuration](t, cases{
		`1ms`: `"1ms"`,
		`0s`:  `f:1:1: must be longer than 0s`,
		`-1s`: `f:1:1: bad duration "-1s"; it must not be negative`,
	})
}

// A number remains a number, and text remains text.
func TestIntOrString(t *testing.T) {
	check[conf.IntOrString](t, cases{
		`50`:                  `50`,
		`"50"`:                `"50"`,
		`"50.5"`:              `"50.5"`,
		`0x10`:                `16`,
		`-1`:                  `-1`,
		`"-.5"`:               `"-.5"`,
		`50.5`:                `f:1:1: a number with a fraction must be in quotes; write "50.5"`,
		`"1e3"`:               `f:1:1: must be a whole number or a decimal number in quotes, not "1e3"`,
		`"NaN"`:               `f:1:1: must be a whole number or a decimal number in quotes, not "NaN"`,
		`half`:                `f:1:1: must be a whole number or a decimal number in quotes, not "half"`,
		`true`:                `f:1:1: must be a whole number or a decimal number in quotes, not "true"`,
		`[1]`:                 `f:1:1: must be a whole number or a decimal number in quotes`,
		`9223372036854775808`: `f:1:1: 9223372036854775808 is out of range (int64)`,
	})
	check[conf.Percentage](t, cases{
		`0`:       `0`,
		`"99.9"`:  `"99.9"`,
		`100`:     `100`,
		`101`:     `f:1:1: must be from 0 to 100`,
		`"100.1"`: `f:1:1: must be from 0 to 100`,
		`"-0.1"`:  `f:1:1: must be from 0 to 100`,
		`1.5`:     `f:1:1: a number with a fraction must be in quotes; write "1.5"`,
	})
	for in, want := range map[conf.IntOrString]float64{`50`: 50, `"50.5"`: 50.5, `"-.5"`: -0.5} {
		if got := in.Float(); got != want {
			t.Errorf("%s: got %v, want %v", in, got, want)
		}
	}
	if got := marshal(t, conf.IntOrString("made by hand")); got != `"made by hand"` {
		t.Errorf("got %s", got)
	}
}

func TestJSON(t *testing.T) {
	check[conf.JSON](t, cases{
		`{b: 1, a: [true, 2.5, "<x>"]}`:      `{"a":[true,2.5,"<x>"],"b":1}`,
		`text`:                               `"text"`,
		`7`:                                  `7`,
		`{1: a}`:                             `f:1:2: a field's name must be a string, not the number 1; write it in quotes: "1"`,
		`{a: 1, a: 2}`:                       `f:1:8: duplicate field "a"; it is in line 1 already`,
		`{a: 2001-01-01, b: [0x10, ~, 1e3]}`: `{"a":"2001-01-01","b":[16,null,1000]}`,
		`{a: &x [1], b: *x}`:                 `{"a":[1],"b":[1]}`,
		`.nan`:                               `f:1:1: must be a finite number, not the number .nan`,
		`{a: [1, {b: -9, b: +7}], c: !x d}`:  "f:1:17: a[1]: duplicate field \"b\"; it is in line 1 already\nf:1:29: c: the tag has no meaning here; remove it",
		`[18446744073709551615, -0x10, 1_0]`: `[18446744073709551615,"-0x10","1_0"]`,
		`[1e400]`:                            `f:1:2: [0]: 1e400 is out of range (float64)`,
	})
	if got := marshal(t, conf.JSON("{")); got != `"{"` {
		t.Errorf("got %s", got)
	}
}

func TestNumbersWithBounds(t *testing.T) {
	check[conf.Count](t, cases{`1`: `1`, `4294967295`: `4294967295`, `0`: `f:1:1: must be at least 1`, `-1`: `f:1:1: -1 is out of range (uint32)`})
	check[conf.Percent](t, cases{`0`: `0`, `100`: `100`, `101`: `f:1:1: must be from 0 to 100`})
	check[conf.Port](t, cases{
		`1`: `1`, `65535`: `65535`,
		`0`:     `f:1:1: bad port 0; a port is a number from 1 to 65535`,
		`65536`: `f:1:1: bad port 65536; a port is a number from 1 to 65535`,
	})
	check[conf.StatusCode](t, cases{
		`100`: `100`, `599`: `599`,
		`99`:  `f:1:1: must be an HTTP status, from 100 to 599`,
		`600`: `f:1:1: must be an HTTP status, from 100 to 599`,
	})
}
