package strict

// Skim checks a value that nobody decodes for what is wrong whatever it means:
// nulls, tags, duplicate fields and names that are no strings.
func Skim(at *At) {
	if !meaningful(at) {
		return
	}
	for _, field := range at.Fields() {
		Skim(field)
	}
	for _, element := range at.Elements() {
		Skim(element)
	}
}
