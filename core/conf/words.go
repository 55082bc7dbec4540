package conf

// Words returns constants as the words that [strict.Enum] is about.
func Words[T ~string](words ...T) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return texts
}
