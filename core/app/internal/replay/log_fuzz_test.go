package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/permission"
)

// FuzzLog replays any bytes: each line that is not blank is a record, or malformed, and each
// record is unknown, a difference, or neither.
func FuzzLog(f *testing.F) {
	const record = `{"downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":"spiffe://a/b","method":"GET","path":"/","requested_server_name":null,"response_code_details":null}`
	for _, seed := range []string{"", "\n", record, record + "\n" + record + "\r\n\n", "[]\n" + record, "\x1f\x8b", "\x00\n\xff\n", strings.Replace(record, "null}", `"rbac_access_denied"}`, 1)} {
		f.Add([]byte(seed))
	}
	closed := map[string]*permission.Permissions{"http": {}, "tcp": {}}
	fields, err := replay.NewFields(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		in := &replay.Input{Files: []string{replay.Stdin}, Stdin: bytes.NewReader(log), Fields: fields, Before: decided(dataplane(), closed)}
		result, err := replay.Run(t.Context(), in)
		if bytes.HasPrefix(log, []byte("\x1f\x8b")) {
			return // it may be compressed
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := int64(0)
		for line := range bytes.SplitSeq(log, []byte("\n")) {
			if len(bytes.Trim(line, " \t\r")) > 0 {
				lines++
			}
		}
		if result.Records+result.Malformed != lines {
			t.Errorf("%d records and %d malformed of %d lines", result.Records, result.Malformed, lines)
		}
		different := int64(0)
		for _, d := range result.Differences {
			different += d.Count
		}
		if result.Unknown+different > result.Records {
			t.Errorf("%d unknown and %d different of %d records", result.Unknown, different, result.Records)
		}
	})
}
