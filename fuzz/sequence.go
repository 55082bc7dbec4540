package fuzz

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// sequence contains the bytes of each Conf. All Confs are of one type, lowest
// priority first.
type sequence [][]byte

// maxDecisions is approximately the number of decisions of the largest built-in Conf.
const maxDecisions = 200

// maxConfs is the number of Confs of the longest sequences: mergers of more than 8, or 16, items
// may use other code.
const maxConfs = 20

// randomSequence returns a sequence of up to 5 Confs, or, one time in eight, of up to maxConfs.
func randomSequence(random *rand.Rand) sequence {
	n := 5
	if random.IntN(8) == 0 {
		n = maxConfs
	}
	s := make(sequence, 1+random.IntN(n))
	for i := range s {
		s[i] = RandomBytes(random, random.IntN(maxDecisions))
	}
	return s
}

// split shares decisions among n Confs.
func split(decisions []byte, n int) sequence {
	s := make(sequence, n)
	for i := range s {
		share := len(decisions) / (n - i)
		s[i], decisions = decisions[:share], decisions[share:]
	}
	return s
}

// confs makes the Confs. Each call makes new ones.
func (s sequence) confs(from confSource) []resource.Conf {
	var confs []resource.Conf
	for _, decisions := range s {
		if conf := from(decisions); conf != nil {
			confs = append(confs, conf)
		}
	}
	return confs
}

// shrink removes Confs, and decisions of the other Confs, as long as the sequence
// still fails. A decision that is 0 or missing adds the least to a Conf.
func (s sequence) shrink(fails func(sequence) bool) sequence {
	s, _ = without(s, func(s sequence) bool { return len(s) > 0 && fails(s) })
	for i := range s {
		failsWith := func(decisions []byte) bool {
			with := slices.Clone(s)
			with[i] = decisions
			return fails(with)
		}
		for less := true; less; {
			s[i], less = without(s[i], failsWith)
			for j, decision := range s[i] {
				zeroed := slices.Clone(s[i])
				if zeroed[j] = 0; decision != 0 && failsWith(zeroed) {
					s[i], less = zeroed, true
				}
			}
		}
	}
	return s
}

// without removes the elements that a failure does not need.
func without[S ~[]E, E any](list S, fails func(S) bool) (small S, less bool) {
	small = slices.Clone(list)
	for i := 0; i < len(small); {
		if smaller := slices.Delete(slices.Clone(small), i, i+1); fails(smaller) {
			small, less = smaller, true
		} else {
			i++
		}
	}
	return small, less
}

func render(confs []resource.Conf) string {
	var lines []string
	for _, conf := range confs {
		lines = append(lines, asText(conf))
	}
	return strings.Join(lines, "\n")
}
