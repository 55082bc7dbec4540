package conf_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// errorOf returns the errors of a validation of a value that was made in Go, without
// the value's name.
func errorOf(validate func(*diag.At)) string {
	var sink diag.Sink
	validate(diag.Root(diag.GoValue("value"), &sink))
	if err := sink.Err(); err != nil {
		return strings.TrimPrefix(err.Error(), "value: ")
	}
	return ""
}

// Tags have the characters of SPEC 1.2. Only a selector may have the value *
// (SPEC 2.2).
func TestTags(t *testing.T) {
	const (
		badKey   = `; a tag's key has letters, digits, '.', '_', ':', '/' and '-'`
		badValue = `; a tag's value has letters, digits, '.', '_', ':' and '-'`
	)
	// The tag of a listener may have a slash in its value, as tags of Kuma's gateways do.
	for value, want := range map[string]string{"http/8080": "", "*": "", "a b": `port: bad tag value "a b"; the value of a listener's tag has letters, digits, '.', '_', ':', '/' and '-', or is * for any`} {
		if got := errorOf(func(at *diag.At) { conf.ValidateListenerTag(at, "port", value) }); got != want {
			t.Errorf("listener tag %q: got %s, want %s", value, got, want)
		}
	}
	for _, test := range []struct{ name, key, value, tag, selector string }{
		{"all characters", "kuma.io/a-B_1:c", "a-B_1.c:2", "", ""},
		{"any value", "env", "*", `env: bad tag value "*"` + badValue, ""},
		{"a pattern", "env", "a*", `env: bad tag value "a*"` + badValue, `env: bad tag value "a*"` + badValue + `, or is * for any`},
		{"no value", "env", "", `env: bad tag value ""` + badValue, `env: bad tag value ""` + badValue + `, or is * for any`},
		{"a slash in a value", "env", "a/b", `env: bad tag value "a/b"` + badValue, `env: bad tag value "a/b"` + badValue + `, or is * for any`},
		{"a letter beyond ASCII", "ä", "a", `ä: bad tag key "ä"` + badKey, `ä: bad tag key "ä"` + badKey},
		{"no key", "", "a", `[""]: bad tag key ""` + badKey, `[""]: bad tag key ""` + badKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := errorOf(func(at *diag.At) { conf.ValidateTag(at, test.key, test.value) }); got != test.tag {
				t.Errorf("tag\ngot  %s\nwant %s", got, test.tag)
			}
			got := errorOf(func(at *diag.At) { conf.ValidateSelector(at, map[string]string{test.key: test.value}) })
			if got != test.selector {
				t.Errorf("selector\ngot  %s\nwant %s", got, test.selector)
			}
		})
	}
}
