package serve

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A version that lacks something is logged once, however many clients have it, and clients
// cannot fill the log.
func TestOldVersions(t *testing.T) {
	var log bytes.Buffer
	o := &oldVersions{log: slog.New(slog.NewTextHandler(&log, nil)), logged: map[string]bool{}}
	admit := func(userAgent, version string, refused bool) (lines []string) {
		t.Helper()
		log.Reset()
		if err := o.admit(&server.Node{UserAgent: userAgent, Version: version}); (err != nil) != refused {
			t.Errorf("%s %s: %v, want refused: %t", userAgent, version, err, refused)
		}
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	for _, test := range []struct {
		userAgent, version, want string
		refused                  bool
	}{
		{"envoy", "1.36.4", "Envoy 1.36.4, which lacks", false},
		{"envoy", "1.36.4", "", false},
		{"envoy", "1.37.0", "Envoy 1.37.0, which lacks", false},
		{"envoy", "1.40.0", "", false},
		{"envoy", "1.41.0", "", false},
		{"envoy", "1.34.0", "", true},
		{"envoy", "", "states no version of Envoy, so it gets what 1.36.0 gets", false},
		{"envoy", "dev", "", false},
		{"gRPC Go", "1.60.0", "", false},
	} {
		lines := admit(test.userAgent, test.version, test.refused)
		if len(lines) != 1 || !strings.Contains(lines[0], test.want) || (test.want == "") != (lines[0] == "") {
			t.Errorf("%s %q: logged %q, want %q", test.userAgent, test.version, lines, test.want)
		}
	}
	logged := 0
	for patch := range 10 * maxFleet {
		if admit("envoy", fmt.Sprintf("1.36.%d", 100+patch), false)[0] != "" {
			logged++
		}
	}
	if logged >= maxFleet {
		t.Errorf("%d versions that clients chose are logged", logged)
	}
}
