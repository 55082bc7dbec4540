package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/cmd/benchgate/internal/chart"
)

// texts returns the texts of a picture, which must be XML.
func texts(t *testing.T, picture []byte) []string {
	t.Helper()
	var list []string
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				list = append(list, strings.TrimSpace(string(token)))
			}
		}
	}
}

// mustHave fails the test if texts are missing.
func mustHave(t *testing.T, picture []byte, want ...string) {
	t.Helper()
	list := texts(t, picture)
	for _, text := range want {
		if !slices.Contains(list, text) {
			t.Errorf("%q is not among the texts %q", text, list)
		}
	}
}

func ratios(t *testing.T, list ...chart.Ratio) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := chart.Ratios(&b, "fail: new compared with old", list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRatios has the names, the axis, an interval only where there is one, and another
// picture for each mark.
func TestRatios(t *testing.T) {
	slow := chart.Ratio{Name: `Match/tags=<a&b> sec/op`, Ratio: 2, Low: 1.8, High: 2.2, Mark: chart.Worse}
	picture := ratios(t, slow, chart.Ratio{Name: "Select allocs/op", Ratio: 0.5, Low: 0.5, High: 0.5, Mark: chart.Better})
	mustHave(t, picture, "fail: new compared with old", "head / base: below 1 is less", `Match/tags=<a&b> sec/op`, "Select allocs/op", "0.5", "1", "2")
	if again := ratios(t, slow, chart.Ratio{Name: "Select allocs/op", Ratio: 0.5, Low: 0.5, High: 0.5, Mark: chart.Better}); !bytes.Equal(picture, again) {
		t.Error("the same ratios give another picture")
	}
	exact := slow
	exact.Low, exact.High = slow.Ratio, slow.Ratio
	lines := func(picture []byte) int { return bytes.Count(picture, []byte("<path")) }
	if with, without := lines(ratios(t, slow)), lines(ratios(t, exact)); with != without+1 {
		t.Errorf("with an interval there are %d paths, without %d", with, without)
	}
	seen := map[string]bool{}
	for _, mark := range []chart.Mark{chart.Same, chart.Better, chart.Worse, chart.Unclear} {
		exact.Mark = mark
		seen[string(ratios(t, exact))] = true
	}
	if len(seen) != 4 {
		t.Errorf("four marks have %d pictures", len(seen))
	}
}

// TestRatiosAtTheEdge draws unbounded intervals, extreme ratios, and none.
func TestRatiosAtTheEdge(t *testing.T) {
	picture := ratios(t, chart.Ratio{Name: "noisy", Ratio: 1, Low: 0, High: math.Inf(1), Mark: chart.Unclear}, chart.Ratio{Name: "extreme", Ratio: 1e9, Low: 1e9, High: 1e9})
	mustHave(t, picture, "noisy", "extreme", "100")
	for _, bad := range []string{"NaN", "Inf"} {
		if bytes.Contains(picture, []byte(bad)) {
			t.Errorf("the picture has %s", bad)
		}
	}
	mustHave(t, ratios(t), "1")
}

// TestGrowth has each series in the legend, the sizes and the times.
func TestGrowth(t *testing.T) {
	var b bytes.Buffer
	list := []chart.Series{
		{"change a policy, slope 0.01", []chart.Point{{1000, 20e-6}, {10000, 21e-6}}},
		{"cold build", []chart.Point{{1000, 2e-3}, {10000, 30e-3}}},
	}
	if err := chart.Growth(&b, "fleet", "dataplanes", list); err != nil {
		t.Fatal(err)
	}
	mustHave(t, b.Bytes(), "fleet", "dataplanes", "1000", "10000", "10µs", "100ms", "change a policy, slope 0.01", "cold build")
	if list[0].Name != "change a policy, slope 0.01" {
		t.Error("the order of the caller has changed")
	}
	if err := chart.Growth(io.Discard, "", "", []chart.Series{{"zero", []chart.Point{{1, 0}}}}); err == nil || !strings.Contains(err.Error(), "zero") {
		t.Errorf("a cost of 0: %v", err)
	}
	if err := chart.Growth(io.Discard, "", "", nil); err == nil {
		t.Error("no series is not an error")
	}
}
