package ocm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/resource"
)

// actionWord is an [Action] as written in a document, in any letter case.
//
//confgen:openapi {"type": "string", "pattern": "^(?i:inform|enforce|informOnly)$"}
type actionWord Action

var actionWords = []string{"inform", "enforce", "informOnly"}

// DecodeAt reads the word.
func (w *actionWord) DecodeAt(in *strict.Value) {
	var text string
	if !strict.Decode(in, &text) {
		return
	}
	for i, word := range actionWords {
		if strings.EqualFold(text, word) {
			*w = actionWord(i)
			return
		}
	}
	in.At().Errorf(diag.UnknownValue, diag.DidYouMean(text, actionWords), "unknown value %q", text)
}

//confgen:schema
type policyDoc struct {
	Spec policySpec `json:"spec"`
}

type policySpec struct {
	Disabled          bool       `json:"disabled,omitzero"`
	RemediationAction actionWord `json:"remediationAction,omitzero"`

	// These have no effect on where a policy acts. See [Content].
	CopyPolicyMetadata bool            `json:"copyPolicyMetadata,omitzero"`
	Dependencies       []*strict.Value `json:"dependencies,omitzero"`
	HubTemplateOptions *strict.Value   `json:"hubTemplateOptions,omitzero"`
	PolicyTemplates    []*strict.Value `json:"policy-templates,omitzero"`
}

func (d *policyDoc) resource(meta *resource.Meta) Resource {
	return &Policy{Meta: *meta, Action: Action(d.Spec.RemediationAction), Disabled: d.Spec.Disabled}
}

// Content returns what a Policy does where it acts: its templates, and the fields that change them,
// as JSON. It returns "" for a document of another kind.
func Content(d *resource.Document) string {
	doc, ok := d.Value.(*policyDoc)
	if !ok {
		return ""
	}
	trees := func(values ...*strict.Value) []any {
		all := []any{}
		for _, v := range values {
			var tree any
			if v != nil && strict.Decode(v, &tree) {
				all = append(all, tree)
			}
		}
		return all
	}
	s := &doc.Spec
	text, err := json.Marshal([]any{s.CopyPolicyMetadata, trees(s.Dependencies...), trees(s.HubTemplateOptions), trees(s.PolicyTemplates...)})
	if err != nil {
		panic(fmt.Sprintf("ocm: a decoded document has no JSON: %v", err)) // it is of maps, lists and scalars
	}
	return string(text)
}

//confgen:schema
type policySetDoc struct {
	Spec struct {
		Description string         `json:"description,omitzero"`
		Policies    []objectName   `json:"policies"`
		Exclusions  []exclusionDoc `json:"exclusions,omitzero"`
	} `json:"spec"`
}

type exclusionDoc struct {
	PolicyName   objectName   `json:"policyName"`
	Reason       string       `json:"reason,omitzero"`
	ClusterNames []objectName `json:"clusterNames"`
}

func (d *policySetDoc) resource(meta *resource.Meta) Resource {
	s := &PolicySet{Meta: *meta, Policies: conf.Words(d.Spec.Policies...)}
	for _, e := range d.Spec.Exclusions {
		s.Exclusions = append(s.Exclusions, Exclusion{string(e.PolicyName), conf.Words(e.ClusterNames...)})
	}
	return s
}

// objectName is the name of another resource.
//
//confgen:openapi {"minLength": 1}
type objectName string

// Validate reports an empty name.
func (n objectName) Validate(at *diag.At) {
	if n == "" {
		at.Errorf(diag.EmptyValue, "", "must not be empty")
	}
}
