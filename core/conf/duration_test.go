package conf_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
)

// CheckText returns the error that a file with the text of the value has.
func TestDurationCheckText(t *testing.T) {
	values := []time.Duration{0, 1, -1, time.Microsecond, time.Hour, -time.Hour, 90 * time.Minute, math.MaxInt64, math.MinInt64}
	random := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		values = append(values, time.Duration(random.Int64()>>random.IntN(64))*time.Duration(1-2*random.IntN(2)))
	}
	negative := 0
	for _, value := range values {
		d := conf.Duration(value)
		text, err := d.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var read conf.Duration
		want := read.UnmarshalText(text)
		if got := d.CheckText(); messageOf(got) != messageOf(want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		if got := conf.PositiveDuration(d).CheckText(); messageOf(got) != messageOf(want) {
			t.Errorf("%s, positive: got %v, want %v", text, got, want)
		}
		if want != nil {
			negative++
		} else if read != d {
			t.Errorf("%s is read as %s", d, read)
		}
	}
	if negative < 1000 || conf.Duration(math.MaxInt64).CheckText() == nil {
		t.Errorf("%d of the values have errors", negative)
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
