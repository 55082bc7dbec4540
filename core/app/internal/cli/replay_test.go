package cli

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/replay"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"0": {0}, "0-1": {0, 1}, "0-2,4,6-7": {0, 1, 2, 4, 6, 7}, "3,5": {3, 5}, "": nil} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: got %q, want %q", numbers, got, want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	var progress replay.Progress
	progress.Lines.Add(1234567)
	progress.Bytes.Add(475_500_464)
	if got, want := progressLine(&progress), "\r\x1b[Kread 1234567 lines, 475 MB"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var out strings.Builder
	showProgress(&out, &progress)()
	if out.Len() > 0 {
		t.Errorf("%q is written, and it is no terminal", out.String())
	}
}

// A table is short, and a wide one has all.
func TestLongReplay(t *testing.T) {
	a := &traffic.Replay{Differences: make([]traffic.ReplayDifference, 25), Unnamed: make([]string, 30)}
	for i := range a.Unnamed {
		a.Unnamed[i] = "spiffe://shop.mesh/a"
	}
	for _, wide := range []bool{false, true} {
		var out strings.Builder
		p := newPage(&out)
		p.wide = wide
		replayPage(p, a)
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if got := strings.Contains(text, "5 more differences") && strings.Contains(text, "and 10 more"); got == wide {
			t.Errorf("wide %v: %s", wide, text)
		}
		if got := strings.Count(text, "spiffe://"); (got == 30) != wide || got < 20 {
			t.Errorf("wide %v: %d identities", wide, got)
		}
	}
}
