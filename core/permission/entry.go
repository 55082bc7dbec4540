package permission

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/strict"
)

// List is one of the three lists of a rule, or the `from` array.
type List uint8

// The lists, in the order in which a rule's entries decide: the first that
// denies comes before those that allow, and allow before allowWithShadowDeny
// (SPEC 10 access).
const (
	Deny List = iota
	Allow
	AllowWithShadowDeny
	From
)

// String returns the list's field.
func (l List) String() string {
	return [...]string{"deny", "allow", "allowWithShadowDeny", "from"}[l]
}

// ruleLists is the lists of a rule.
var ruleLists = [...]List{Deny, Allow, AllowWithShadowDeny}

// Place is where a decision is written down.
type Place struct {
	KRI   string // of the policy
	Rule  int    // index of the rule in the policy's rules; 0 for from
	List  List
	Index int // in the list
}

// Rule is one rule of one policy.
type Rule struct {
	KRI   string
	Index int // in the policy's rules
	Conf  *meshtrafficpermission.RuleConf
	Pos   strict.Position
}

func (r *Rule) list(l List) []conf.Match {
	return [...][]conf.Match{r.Conf.Deny, r.Conf.Allow, r.Conf.AllowWithShadowDeny}[l]
}

// Entry is an entry of a rule's list.
type Entry struct {
	Place
	// Match is what the inbound compares; shared with the conf where it sees
	// all of it, and not to be changed. An empty one holds for every request.
	Match *conf.Match
}
