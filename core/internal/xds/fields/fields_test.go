package fields

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields with bytes are visited in their order, others are left out, and what is cut is malformed.
func TestEach(t *testing.T) {
	malformed, stop := errors.New("malformed"), errors.New("stop")
	var b []byte
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), "x")
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 300)
	b = protowire.AppendString(protowire.AppendTag(b, 20, protowire.BytesType), "")
	for end := range len(b) + 1 {
		var seen []string
		err := Each(b[:end], malformed, func(number protowire.Number, value []byte) error {
			seen = append(seen, fmt.Sprintf("%d=%s", number, value))
			return nil
		})
		whole := end == 0 || end == 3 || end == 6 || end == len(b)
		if whole != (err == nil) || !whole && err != malformed {
			t.Errorf("the first %d bytes: %v", end, err)
		}
		want := []string{"", "2=x", "2=x 20="}[min(end/3, 1)+end/len(b)]
		if got := strings.Join(seen, " "); got != want {
			t.Errorf("the first %d bytes: got %q, want %q", end, got, want)
		}
	}
	if err := Each(b, malformed, func(protowire.Number, []byte) error { return stop }); err != stop {
		t.Errorf("visit returns an error, and Each %v", err)
	}
}
