package diag

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// DidYouMean returns a hint for an unknown word: the nearest known word, otherwise
// the first known word that begins with it, otherwise the only known word that
// contains it. If there is no such word, the hint lists the known words if they
// are few, and is empty if they are many. Letter case is ignored.
func DidYouMean(word string, known []string) string {
	best, bestDistance := "", 1+max(1, min(3, len(word)/2))
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k), bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		best = containing(word, known)
	}
	switch {
	case best != "":
		return "did you mean " + strconv.Quote(best) + "?"
	case len(known) == 0:
		return ""
	case len(known) <= 12:
		words := slices.Clone(known)
		for i := range words {
			words[i] = strconv.Quote(words[i])
		}
		return "one of " + strings.Join(words, ", ")
	}
	return ""
}

// NearNames returns the hint of [DidYouMean] for a name of many: if no known name is a likely
// one, the five nearest.
func NearNames(name string, known []string) string {
	const most = 5
	if len(known) <= most || !strings.HasPrefix(cmp.Or(DidYouMean(name, known), "one of"), "one of") {
		return DidYouMean(name, known)
	}
	distances := map[string]int{}
	for _, k := range known {
		distances[k] = editDistance(strings.ToLower(name), strings.ToLower(k), len(name)+len(k))
	}
	near := slices.SortedFunc(maps.Keys(distances), func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	return "the nearest of " + strconv.Itoa(len(near)) + " are " + strings.Join(near[:min(most, len(near))], ", ")
}

// Misspells reports whether a word is probably meant to be one of the known words: its letters
// differ in case, or in at most a quarter of them and at most three.
func Misspells(word string, known []string) bool {
	limit := 1 + max(1, min(3, len(word)/4))
	return slices.ContainsFunc(known, func(k string) bool {
		return editDistance(strings.ToLower(word), strings.ToLower(k), limit) < limit
	})
}

// containing returns the first known word that begins with word, otherwise the only
// one that contains it, otherwise "".
func containing(word string, known []string) string {
	word = strings.ToLower(word)
	var within []string
	for _, k := range known {
		switch strings.Index(strings.ToLower(k), word) {
		case -1:
		case 0:
			if word != "" {
				return k
			}
		default:
			within = append(within, k)
		}
	}
	if len(within) == 1 {
		return within[0]
	}
	return ""
}

// editDistance returns the Levenshtein distance of a and b in bytes, or limit
// if the distance is not below limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}
