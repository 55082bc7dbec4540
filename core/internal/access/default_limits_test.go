package access

import "testing"

// A question without limits of its own has that of SECURITY.md.
func TestDefaultLimits(t *testing.T) {
	if got := (&Limits{}).steps(); got != 1<<24 {
		t.Errorf("it may take %d steps", got)
	}
}
