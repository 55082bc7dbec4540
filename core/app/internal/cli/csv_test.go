package cli

import (
	"encoding/csv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
)

// No cell of a table in CSV begins a formula, regardless of how a spreadsheet separates and reads the
// cells, and each has the text of its author.
func TestCellsAreNoFormulas(t *testing.T) {
	const signs = "=+-@＝＋－＠"
	plain := strings.NewReplacer("'", "", "\t", " ", "\r", " ", "\n", " ", "\x00", " ", "\x1b", " ", "\xff", "\ufffd")
	random := rand.New(rand.NewPCG(48, 19))
	pieces := []string{"=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", " ", "\u00a0", "\u200b", "\ufeff", "\u2028", ";", ",", `"`, "'", "\x00", "\x1b", "a", "cmd|' /C calc'!A0", "spiffe://a/b", "\xff"}
	for range 20_000 {
		var texts []string
		for range 1 + random.IntN(3) {
			var b strings.Builder
			for range random.IntN(5) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			texts = append(texts, b.String())
		}
		a := &traffic.Reach{}
		for _, text := range texts {
			a.Inbounds = append(a.Inbounds, traffic.ReachInbound{Title: text})
		}
		var out strings.Builder
		if err := reachCSV(&out, a); err != nil {
			t.Fatal(err)
		}
		for _, comma := range []rune{',', ';', '\t'} {
			r := csv.NewReader(strings.NewReader(out.String()))
			r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
			rows, err := r.ReadAll()
			if err != nil {
				t.Fatalf("%q: %v", out.String(), err)
			}
			for _, row := range rows {
				for k, cell := range row {
					trimmed := strings.TrimLeft(cell, " \n\"\u00a0\u200b\ufeff\u2028")
					if trimmed != "" && strings.ContainsRune(signs, []rune(trimmed)[0]) || comma == ',' && cell != "" && cell[0] < ' ' {
						t.Fatalf("%q: a cell is %q", texts, cell)
					}
					if comma == ',' && k > 0 && plain.Replace(cell) != plain.Replace(texts[k-1]) {
						t.Fatalf("%q: a cell is %q", texts[k-1], cell)
					}
				}
			}
			if comma == ',' && (len(rows) != 1 || len(rows[0]) != len(texts)+1) {
				t.Fatalf("%q: the rows are %q", texts, rows)
			}
		}
	}
}
