package permission

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// List is one of the three lists of a rule, or the `from` array.
type List uint8

// The lists, in the order in which a rule's entries decide: deny, then allow,
// then allowWithShadowDeny (SPEC 10 access).
const (
	Deny List = iota
	Allow
	AllowWithShadowDeny
	From
)

// String returns the name of the list's field.
func (l List) String() string {
	return [...]string{"deny", "allow", "allowWithShadowDeny", "from"}[l]
}

// Scope returns which part of a header's value must meet the conditions of the
// list's entries (SPEC 7.2).
func (l List) Scope() request.ValueScope {
	switch l {
	case Allow:
		return request.Whole
	case AllowWithShadowDeny:
		return request.Runs
	}
	return request.Denial
}

// ruleLists contains the lists of a rule.
var ruleLists = [...]List{Deny, Allow, AllowWithShadowDeny}

// Place is the place in a policy of the entry or item that decides.
type Place struct {
	Policy *resource.Policy
	KRI    string // of the policy
	Rule   int    // index of the rule in the policy's rules; 0 for from
	List   List
	Index  int // in the list
}

// Rule is one rule of one policy.
type Rule struct {
	Policy *resource.Policy
	KRI    string // of the policy
	Index  int    // in the policy's rules
	Conf   *meshtrafficpermission.RuleConf
	Pos    diag.Position
}

// place returns the place of an entry of the rule.
func (r *Rule) place(list List, index int) Place {
	return Place{Policy: r.Policy, KRI: r.KRI, Rule: r.Index, List: list, Index: index}
}

func (r *Rule) list(l List) []conf.Match {
	return [...][]conf.Match{r.Conf.Deny, r.Conf.Allow, r.Conf.AllowWithShadowDeny}[l]
}

// Entry is an entry of a rule's list.
type Entry struct {
	Place
	// Match contains the conditions that the inbound compares. If the inbound
	// can see all of them, it is shared with the conf; it must not be changed.
	// An empty match matches every request.
	Match *conf.Match
}
