package index_test

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/index"
)

// Names become terms, selectors and items are indexed by their terms, and the
// matching selectors are sorted.
func Example() {
	tags := index.NewInterner[string]().Edit()
	term := func(tag string) index.Term { return index.Term(tags.Intern(tag)) }

	// Selectors: which of them match an item?
	policies := []string{"web-v1", "everything", "web"}
	selectors := new(index.TermIndex).Edit()
	selectors.Put(0, []index.Term{term("service=web"), term("version=v1")})
	selectors.Put(1, nil)
	selectors.Put(2, []index.Term{term("service=web")})
	published := selectors.Commit()

	names := new(index.Order).Edit(func(a, b uint32) int {
		return strings.Compare(policies[a], policies[b])
	})
	for id := range policies {
		names.Put(uint32(id))
	}
	byName, err := names.Commit()
	if err != nil {
		panic(err)
	}

	item := index.SortTerms([]index.Term{term("service=web"), term("version=v2")})
	ids, _ := published.Match(item, nil)
	var scratch index.Scratch
	byName.Sort(ids, &scratch)
	for _, id := range ids {
		fmt.Println(policies[id])
	}

	// Output:
	// everything
	// web
}
