package conf

// Words returns constants or names as strings, for the Enum method of [strict.Enum] among others.
func Words[T ~string](words ...T) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return texts
}
