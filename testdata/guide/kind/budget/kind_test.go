package budget_test

import (
	"testing"

	"example.com/kind/budget"
	"github.com/meshmatch/meshmatch/fuzz"
)

func TestKind(t *testing.T) { fuzz.CheckKind(t, budget.Kind()) }

func FuzzKind(f *testing.F) { fuzz.FuzzKind(f, budget.Kind()) }
