package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// golden runs test for each archive of testdata/dir and compares the result with
// the part `want`. The name of an archive is its case, and its comment explains
// the case. If UPDATE is set, golden writes that part.
func golden(t *testing.T, dir string, test func(t *testing.T, parts map[string]string) string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives in testdata/%s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			got := test(t, parts)
			if os.Getenv("UPDATE") != "" {
				want := &archive.Files[len(archive.Files)-1]
				if want.Name != "want" {
					t.Fatalf("the last part is %s, not want", want.Name)
				}
				want.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(parts["want"], got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCompareRecorded replays recorded runs: base and head, and base2 and head2
// for the second round.
func TestCompareRecorded(t *testing.T) {
	golden(t, "compare", func(t *testing.T, parts map[string]string) string {
		load := func(name string) *Results {
			results, err := Load(strings.NewReader(parts[name]), name, "")
			if err != nil {
				t.Fatal(err)
			}
			return results
		}
		rows := compare(load("base"), load("head"), nil, DefaultLimits())
		_, second := parts["base2"]
		if suspects := having(rows, Suspect); (len(suspects) > 0) != second {
			t.Errorf("suspects are %v, but recorded a second round: %t", suspects, second)
		}
		if second {
			rows = confirm(rows, compare(load("base2"), load("head2"), nil, DefaultLimits()))
		}
		var out bytes.Buffer
		c := &Comparison{Base: "base", Head: "head", Rounds: MinRounds, Rows: rows}
		if err := c.WriteTable(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	})
}
