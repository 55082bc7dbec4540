package conf_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// retries has a field with a default.
type retries struct {
	Attempts *int `json:"attempts,omitzero"`
}

func (r *retries) SetDefaults() { conf.Default(&r.Attempts, 2) }

func TestDefault(t *testing.T) {
	zero := 0
	for name, c := range map[string]struct {
		in   retries
		want int
	}{"absent": {retries{}, 2}, "zero": {retries{&zero}, 0}} {
		if c.in.SetDefaults(); *c.in.Attempts != c.want {
			t.Errorf("%s: got %d, want %d", name, *c.in.Attempts, c.want)
		}
	}
	var a, b retries
	a.SetDefaults()
	b.SetDefaults()
	if *a.Attempts = 3; *b.Attempts != 2 {
		t.Error("two values share their default")
	}
}

func TestRefuseIdle(t *testing.T) {
	for value, want := range map[retries]string{{}: "value: http: sets nothing; set a field, or remove it", {Attempts: new(int)}: ""} {
		var sink diag.Sink
		conf.RefuseIdle(diag.Root(diag.GoValue("value"), &sink).Field("http"), &value)
		got := ""
		if err := sink.Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: got %q, want %q", value, got, want)
		}
	}
}

func TestWarnIdle(t *testing.T) {
	var sink diag.Sink
	conf.WarnIdle(diag.Root(diag.GoValue("value"), &sink).Field("http"), new(struct{}))
	if warnings := sink.Warnings(); len(warnings) != 1 || warnings[0].Error() != "value: http: sets nothing; set a field, or remove it" {
		t.Errorf("got %v", warnings)
	}
	if err := sink.Err(); err != nil {
		t.Errorf("an error: %v", err)
	}
}
