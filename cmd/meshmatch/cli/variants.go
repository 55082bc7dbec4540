package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
)

func newVariants(g *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "variants",
		Short: "Check, choose and compile variants of resources by dynamic parameters",
		Long: `Variants are several contents of one resource name, each with constraints on
the dynamic parameters of clients (xRFC TP2). The input is documents of type
ResourceVariants and ResourceFragments:

  type: ResourceVariants
  name: routes
  variants:
    - constraints: {constraint: {key: env, value: prod}}
      content: {timeout: 5s}
    - constraints: {notConstraints: {constraint: {key: env, value: prod}}}
      content: {timeout: 1s}

Constraints are the proto3 JSON of DynamicParameterConstraints. A document of
type ResourceFragments has fragments in the place of variants.

Tables print constraints in short form: key=value, key!=value, key (it exists)
and !key (it does not), combined by & and |.`,
		Args:              subcommand,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newVariantsCheck(g), answering(newVariantsChoose(g)), newVariantsCompile(g), newVariantsPolicies(g))
	return c
}

// loadVariants reads the documents of one type that -f names. None at all is
// an error.
func loadVariants[T any](g *globals, c *cobra.Command, kind string) ([]document[T], error) {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return nil, err
	}
	var documents []document[T]
	for meta, value := range resource.DocumentsOf[T](w.set) {
		documents = append(documents, document[T]{meta.Name, value})
	}
	if len(documents) == 0 {
		return nil, fmt.Errorf("there are no documents of type %s in the input; check -f", kind)
	}
	return documents, nil
}

type document[T any] struct {
	name  string
	value *T
}

func newVariantsCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Admit sets of variants, or show parameters that two variants accept",
		Long: `Admit the variants of each ResourceVariants document. A set is refused if its
variants name different keys, or if two of them accept the same parameters,
which the error shows. Parameters that no variant accepts are a warning.`,
		Example: `  meshmatch variants check -f variants.yaml
  meshmatch variants check -f variants.yaml -o json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			documents, err := loadVariants[variant.VariantsDocument](g, c, "ResourceVariants")
			if err != nil {
				return err
			}
			answer := make([]variantsCheck, len(documents))
			sets := make([]*variant.Set, len(documents))
			for i, d := range documents {
				if sets[i], err = d.value.Set(); err != nil {
					return fmt.Errorf("%s: %w", d.name, err)
				}
				answer[i] = variantsCheck{d.name, sets[i].Len(), warningsOf(sets[i])}
			}
			return g.print(c, answer, func(p *page) {
				for i, d := range documents {
					p.heading(0, "%s: %s", d.name, keysTitle(sets[i]))
					for v := range sets[i].Len() {
						p.row(fmt.Sprintf("[%d]", v), sets[i].Short(v))
					}
					warningLines(p, answer[i].Warnings)
				}
			})
		},
	}
}

// variantsCheck is the answer about one document.
type variantsCheck struct {
	Name     string           `json:"name"`
	Variants int              `json:"variants"`
	Warnings []variantWarning `json:"warnings"`
}

type variantWarning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

func warningsOf(set *variant.Set) []variantWarning {
	warnings := []variantWarning{}
	for _, w := range set.Warnings() {
		warnings = append(warnings, variantWarning{w.Path(), withHint(w.Message, w.Hint)})
	}
	return warnings
}

func warningLines(p *page, warnings []variantWarning) {
	for _, w := range warnings {
		p.line("warning: %s: %s", w.Path, w.Message)
	}
}

func keysTitle(set *variant.Set) string {
	title := count(set.Len(), "variant")
	if keys := set.Keys(); len(keys) > 0 {
		title += " by " + strings.Join(keys, ", ")
	}
	return title
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func newVariantsChoose(g *globals) *cobra.Command {
	var given []string
	c := &cobra.Command{
		Use:   "choose",
		Short: "Print the variant that a client with the given parameters gets",
		Long: `Print, for each ResourceVariants document, the variant whose constraints accept
the parameters. Exit status: 0 each document has such a variant; 1 one has none:
for this client the resource does not exist; 2 bad input or wrong usage.`,
		Example: `  meshmatch variants choose --param env=prod --param version=v1 -f variants.yaml
  meshmatch variants choose -f variants.yaml -o json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			parameters, err := parseParameters(given)
			if err != nil {
				return err
			}
			answer, err := g.chooseVariants(c, parameters)
			if err != nil {
				return err
			}
			if err := g.print(c, answer, func(p *page) { choicePage(p, answer) }); err != nil {
				return err
			}
			for _, chosen := range answer {
				if chosen.Variant == nil {
					return errNo
				}
			}
			return nil
		},
	}
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

// variantChoice is the answer about one document. Variant is nil if no variant
// accepts the parameters.
type variantChoice struct {
	Name        string              `json:"name"`
	Variant     *int                `json:"variant"`
	Constraints *variant.Constraint `json:"constraints,omitempty"`
	Content     *variant.Content    `json:"content,omitempty"`

	short string
}

func (g *globals) chooseVariants(c *cobra.Command, parameters variant.Parameters) ([]variantChoice, error) {
	documents, err := loadVariants[variant.VariantsDocument](g, c, "ResourceVariants")
	if err != nil {
		return nil, err
	}
	answer := make([]variantChoice, len(documents))
	for i, d := range documents {
		set, err := d.value.Set()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		answer[i].Name = d.name
		if chosen, ok := set.Choose(parameters); ok {
			constraints := set.Constraint(chosen)
			answer[i] = variantChoice{d.name, &chosen, &constraints, &d.value.Variants[chosen].Content, set.Short(chosen)}
		}
	}
	return answer, nil
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

// shortJSON returns a value in one line.
func shortJSON(v any) string {
	data, err := toJSONLine(v)
	if err != nil {
		return "cannot be shown: " + err.Error()
	}
	return data
}

func newVariantsCompile(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "compile",
		Short: "Compile fragments of a resource to the fewest variants",
		Long: `Compile each ResourceFragments document to one variant for each content that
clients can have. A client has the contents of all fragments that accept its
parameters, merged in order: mappings by key, lists are concatenated, anything
else is replaced by the later fragment.`,
		Example: `  meshmatch variants compile -f fragments.yaml
  meshmatch variants compile -f fragments.yaml -o yaml`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			documents, err := loadVariants[variant.FragmentsDocument](g, c, "ResourceFragments")
			if err != nil {
				return err
			}
			answer := make([]compiledDocument, len(documents))
			sets := make([]*variant.Set, len(documents))
			for i, d := range documents {
				var contents []map[string]any
				if sets[i], contents, err = d.value.Compile(); err != nil {
					return fmt.Errorf("%s: %w", d.name, err)
				}
				answer[i] = compiledDocument{Name: d.name, Warnings: []variantWarning{}}
				for j, content := range contents {
					answer[i].Variants = append(answer[i].Variants, compiledVariant{sets[i].Constraint(j), content})
				}
				for _, w := range d.value.Warnings() {
					answer[i].Warnings = append(answer[i].Warnings, variantWarning{w.Path(), withHint(w.Message, w.Hint)})
				}
			}
			return g.print(c, answer, func(p *page) {
				for i, d := range answer {
					p.heading(0, "%s: %s", d.Name, keysTitle(sets[i]))
					for j, v := range d.Variants {
						p.row(sets[i].Short(j), shortJSON(v.Content))
					}
					warningLines(p, d.Warnings)
				}
			})
		},
	}
}

// compiledDocument is the answer about one document.
type compiledDocument struct {
	Name     string            `json:"name"`
	Variants []compiledVariant `json:"variants"`
	Warnings []variantWarning  `json:"warnings"`
}

type compiledVariant struct {
	Constraints variant.Constraint `json:"constraints"`
	Content     variant.Content    `json:"content"`
}
