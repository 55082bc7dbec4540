package migrate_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// The table of Kuma 3's changes names each finding about them, and no other.
func TestTableOfChanges(t *testing.T) {
	page, err := os.ReadFile("../../../KUMA.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## What Kuma 3 changes")
	if !found {
		t.Fatal("KUMA.md has no table of changes")
	}
	named := regexp.MustCompile(`MM[0-9]{4}`).FindAllString(table, -1)
	for _, code := range named {
		if c, known := diag.ParseCode(code); !known || c.Class() != diag.ClassMigration {
			t.Errorf("%s is no finding about migration", code)
		}
	}
	for _, d := range diag.Definitions() {
		if d.Class == diag.ClassMigration && d.Code >= diag.TargetNotInKuma3 && !slices.Contains(named, d.Code.String()) {
			t.Errorf("the table does not name %s: %s", d.Code, d.Title)
		}
	}
}
