package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	word  string
	words []string // not empty
}

func (c *choice) String() string { return c.word }

func (c *choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		last := len(c.words) - 1
		if last == 0 {
			return fmt.Errorf("must be %s", c.words[0])
		}
		return fmt.Errorf("must be %s or %s", strings.Join(c.words[:last], ", "), c.words[last])
	}
	c.word = word
	return nil
}

func (*choice) Type() string { return "word" }
