package conf_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestUnmarshal(t *testing.T) {
	type limits struct {
		Timeout *conf.Duration `json:"timeout,omitzero"`
		Retries int            `json:"retries"`
	}
	for _, test := range []struct{ name, document, err string }{
		{"YAML", "timeout: 1m30s\nretries: 2", ""},
		{"JSON", `{"timeout": "90s", "retries": 2}`, ""},
		{"a field that the type does not have", "retries: 2\nretry: 1", `retry`},
		{"a value that the type refuses", "timeout: soon\nretries: 2", "timeout"},
		{"a required field is missing", "timeout: 90s", "retries"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got limits
			err := conf.Unmarshal([]byte(test.document), &got)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want an error about %s", err, test.err)
				}
				return
			}
			if err != nil || got.Retries != 2 || got.Timeout == nil || got.Timeout.String() != "1m30s" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
