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
	switch likely := likelyWord(word, known); {
	case likely != "":
		return "did you mean " + strconv.Quote(likely) + "?"
	case len(known) == 0 || len(known) > 12:
		return ""
	}
	return "one of " + quotedList(known)
}

// likelyWord returns the known word that is probably meant; "" if there is none.
func likelyWord(word string, known []string) string {
	best, bestDistance := "", 1+max(1, min(3, len(word)/2))
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k), bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return cmp.Or(best, containing(word, known))
}

func quotedList(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = strconv.Quote(word)
	}
	return strings.Join(list, ", ")
}

// NearNames is [DidYouMean] for names of resources, which may be many: if there is no likely
// one, the hint lists the five nearest.
func NearNames(name string, known []string) string {
	const most = 5
	if len(known) <= most || likelyWord(name, known) != "" {
		return DidYouMean(name, known)
	}
	distances := map[string]int{}
	for _, k := range known {
		distances[k] = editDistance(strings.ToLower(name), strings.ToLower(k), len(name)+len(k))
	}
	near := slices.SortedFunc(maps.Keys(distances), func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), strings.Compare(a, b))
	})
	return "the nearest of " + strconv.Itoa(len(near)) + " are " + quotedList(near[:min(most, len(near))])
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
