package fuzz

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// decodingLimits bounds what a hostile file of a fuzz run may ask for.
var decodingLimits = strict.Limits{Bytes: 64 << 10, Depth: 50, Nodes: 10_000}

// decodingTime is far more than a file within the limits takes, even where
// other programs run; past it something does not end.
const decodingTime = 20 * time.Second

const decodedFile = "input"

// checkDecoding reads any bytes as a file (SPEC 1.2): there is an answer in
// time; either resources, and then every policy prints as what reads as the
// same again, or errors, each with a place, in order.
func checkDecoding(kinds *resource.Kinds, data []byte) error {
	loader := &resource.Loader{Kinds: kinds, Limits: decodingLimits}
	start := time.Now()
	set, err := loader.Decode(resource.Input{Name: decodedFile, Data: data})
	if took := time.Since(start); took > decodingTime {
		return fmt.Errorf("%d bytes took %v", len(data), took)
	}
	if err != nil {
		return checkErrors(err, len(data) > decodingLimits.Bytes)
	}
	for _, policy := range set.Policies {
		if err := checkPrinting(loader, policy); err != nil {
			return fmt.Errorf("policy %s: %w", policy.Name, err)
		}
	}
	return nil
}

func checkErrors(err error, tooLarge bool) error {
	var all strict.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		return fmt.Errorf("an error without places: %w", err)
	}
	for _, d := range all {
		noPlace := d.Pos.File != decodedFile || !tooLarge && (d.Pos.Line < 1 || d.Pos.Column < 1)
		if noPlace || d.What == "" {
			return fmt.Errorf("an error without a place or a text: %+v", d)
		}
	}
	if !slices.Equal(all, strict.Sorted(all)) {
		return fmt.Errorf("errors out of order:\n%w", err)
	}
	return nil
}

func checkPrinting(loader *resource.Loader, policy *resource.Policy) error {
	printed := asText(policy)
	set, err := loader.Decode(resource.Input{Name: decodedFile, Data: []byte(printed)})
	switch {
	case err != nil:
		return fmt.Errorf("its own print is refused: %w\n%s", err, printed)
	case len(set.Policies) != 1:
		return fmt.Errorf("its print has %d policies:\n%s", len(set.Policies), printed)
	}
	if diff := difference(withoutPlaces(policy), withoutPlaces(set.Policies[0])); diff != "" {
		return fmt.Errorf("its print reads as another (-first +again):\n%s", diff)
	}
	return nil
}

// withoutPlaces returns what a policy says, wherever it stands in a file. A
// namespace is told by metadata first, and by a label when it is printed.
func withoutPlaces(p *resource.Policy) []any {
	var targets []any
	for _, items := range [][]resource.Item{p.To, p.From} {
		for i := range items {
			targets = append(targets, items[i].TargetRef)
		}
	}
	return []any{p.ID, p.TargetRef, targets, parse(asText(p))}
}
