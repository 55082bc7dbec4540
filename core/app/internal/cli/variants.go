package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newVariants(g *globals) *cobra.Command {
	c := group("variants", newVariantsCheck(g), newVariantsCompile(g), newVariantsPolicies(g))
	c.AddCommand(marked(answers, newVariantsChoose(g))...)
	return c
}

// answersOf answers about each document of a type that -f names. It is an error if there
// are none.
func answersOf[T, A any](g *globals, c *cobra.Command, kind string, answer func(name string, document *T) (A, error)) ([]A, error) {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return nil, err
	}
	var answers []A
	for meta, document := range resource.DocumentsOf[T](w.set) {
		a, err := answer(meta.Name, document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", meta.Name, err)
		}
		answers = append(answers, a)
	}
	if len(answers) == 0 {
		return nil, fmt.Errorf("there are no documents of type %s in the input; check -f", kind)
	}
	return answers, nil
}

// variantsCheck is the answer about one ResourceVariants document.
type variantsCheck struct {
	Name     string           `json:"name"`
	Variants int              `json:"variants"`
	Warnings []variantWarning `json:"warnings"`

	set *variant.ConstraintSet
}

type variantWarning struct {
	Code    diag.Code  `json:"code"`
	Path    string     `json:"path"`
	Message string     `json:"message"`
	Class   diag.Class `json:"class"`
}

func warningsOf(list []variant.Warning) []variantWarning {
	warnings := []variantWarning{} // not null in JSON
	for _, w := range list {
		warnings = append(warnings, variantWarning{w.Code, w.Path(), diag.WithHint(w.Message, w.Hint), w.Code.Class()})
	}
	return warnings
}

func warningLines(p *page, warnings []variantWarning) {
	for _, w := range warnings {
		p.line("warning: %s: %s [%s]", w.Path, w.Message, w.Code)
	}
}

func newVariantsCheck(g *globals) *cobra.Command {
	return withHelp("variants-check", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			answer, err := answersOf(g, c, "ResourceVariants", func(name string, d *variant.VariantsDocument) (variantsCheck, error) {
				set, err := d.Set()
				if err != nil {
					return variantsCheck{}, err
				}
				return variantsCheck{name, set.Len(), warningsOf(set.Warnings()), set}, nil
			})
			return printed(g, c, answer, err, func(p *page, answer []variantsCheck) {
				for _, d := range answer {
					p.heading(0, "%s: %s", d.Name, keysTitle(d.set))
					for v := range d.Variants {
						p.row(fmt.Sprintf("[%d]", v), d.set.Short(v))
					}
					warningLines(p, d.Warnings)
				}
			})
		},
	})
}

func keysTitle(set *variant.ConstraintSet) string {
	title := diag.Count(set.Len(), "variant")
	if keys := set.Keys(); len(keys) > 0 {
		title += " by " + strings.Join(keys, ", ")
	}
	return title
}

// variantChoice is the answer about one ResourceVariants document. Variant is nil if no
// variant accepts the parameters.
type variantChoice struct {
	Name        string              `json:"name"`
	Variant     *int                `json:"variant"`
	Constraints *variant.Constraint `json:"constraints,omitempty"`
	Content     *variant.Content    `json:"content,omitempty"`

	short string
}

func newVariantsChoose(g *globals) *cobra.Command {
	var given []string
	c := withHelp("variants-choose", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			parameters, err := parseParameters(given)
			if err != nil {
				return err
			}
			answer, err := answersOf(g, c, "ResourceVariants", func(name string, d *variant.VariantsDocument) (variantChoice, error) {
				return newVariantChoice(name, d, parameters)
			})
			if err != nil {
				return err
			}
			none := slices.ContainsFunc(answer, func(v variantChoice) bool { return v.Variant == nil })
			return ended(g.print(c, answer, func(p *page) { choicePage(p, answer) }), nil, none)
		},
	})
	c.Flags().StringArrayVar(&given, "param", nil, "a dynamic parameter of the client, as `KEY=VALUE`; may be repeated")
	return c
}

func parseParameters(given []string) (variant.Parameters, error) {
	parameters := variant.Parameters{}
	for _, p := range given {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usagef("--param must be KEY=VALUE, %q is not", p)
		}
		if _, twice := parameters[key]; twice {
			return nil, usagef("--param %s is given twice; a key has one value", key)
		}
		parameters[key] = value
	}
	return parameters, nil
}

func newVariantChoice(name string, d *variant.VariantsDocument, parameters variant.Parameters) (variantChoice, error) {
	set, err := d.Set()
	if err != nil {
		return variantChoice{}, err
	}
	chosen, ok := set.Choose(parameters)
	if !ok {
		return variantChoice{Name: name}, nil
	}
	constraints := set.Constraint(chosen)
	return variantChoice{name, &chosen, &constraints, &d.Variants[chosen].Content, set.Short(chosen)}, nil
}

func choicePage(p *page, answer []variantChoice) {
	for _, chosen := range answer {
		if chosen.Variant == nil {
			p.row(chosen.Name, "no variant", "the resource does not exist for this client")
			continue
		}
		p.row(chosen.Name, fmt.Sprintf("[%d]", *chosen.Variant), chosen.short, shortJSON(chosen.Content))
	}
}

// compiledDocument is the answer about one ResourceFragments document.
type compiledDocument struct {
	Name     string            `json:"name"`
	Variants []compiledVariant `json:"variants"`
	Warnings []variantWarning  `json:"warnings"`

	set *variant.ConstraintSet
}

type compiledVariant struct {
	Constraints variant.Constraint `json:"constraints"`
	Content     variant.Content    `json:"content"`
}

func newVariantsCompile(g *globals) *cobra.Command {
	return withHelp("variants-compile", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			answer, err := answersOf(g, c, "ResourceFragments", newCompiledDocument)
			return printed(g, c, answer, err, func(p *page, answer []compiledDocument) {
				for _, d := range answer {
					p.heading(0, "%s: %s", d.Name, keysTitle(d.set))
					for i, v := range d.Variants {
						p.row(d.set.Short(i), shortJSON(v.Content))
					}
					warningLines(p, d.Warnings)
				}
			})
		},
	})
}

func newCompiledDocument(name string, d *variant.FragmentsDocument) (compiledDocument, error) {
	set, contents, err := d.Compile()
	if err != nil {
		return compiledDocument{}, err
	}
	answer := compiledDocument{Name: name, Warnings: warningsOf(d.Warnings()), set: set}
	for i, content := range contents {
		answer.Variants = append(answer.Variants, compiledVariant{set.Constraint(i), content})
	}
	return answer, nil
}
