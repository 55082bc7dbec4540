package ocm

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Rollout describes how a change is applied to the clusters of a placement, and the
// progress of the change (SPEC 8.6).
type Rollout struct {
	resource.Meta
	Placement Ref // of kind [PlacementKind]
	Strategy  Strategy
	Status    []ClusterStatus
}

// StrategyType is the order in which the clusters begin.
type StrategyType string

// The types of a strategy.
const (
	All                 StrategyType = "All"
	Progressive         StrategyType = "Progressive"
	ProgressivePerGroup StrategyType = "ProgressivePerGroup"
)

// Enum returns the types.
func (StrategyType) Enum() []string {
	return []string{string(All), string(Progressive), string(ProgressivePerGroup)}
}

// Strategy is OCM's RolloutStrategy. Fields that do not belong to its type are
// zero.
type Strategy struct {
	Type StrategyType
	// MaxConcurrency limits the clusters in progress; nil: no limit.
	MaxConcurrency *Amount
	// MandatoryGroups are applied first, one after the other.
	MandatoryGroups []GroupRef
	// MinSuccessTime is the time that a cluster soaks after success.
	MinSuccessTime time.Duration
	// ProgressDeadline is the maximum time that a cluster may take; nil: no
	// limit.
	ProgressDeadline *time.Duration
	// MaxFailures is the number of tolerated failures.
	MaxFailures Amount
}

// GroupRef names a decision group: by name or, if the name is empty, by index.
type GroupRef struct {
	Name  string
	Index int
}

// Amount is a number of clusters, or a percentage of a number of clusters.
type Amount struct {
	Value   int
	Percent bool
}

// CountOf returns the amount for n clusters; a percentage is rounded up.
func (a Amount) CountOf(n int) int {
	if !a.Percent {
		return a.Value
	}
	return (n*a.Value + 99) / 100
}

// Status is the progress of the change on a cluster.
type Status string

// The values of a status. A cluster that has not begun has no status.
const (
	ToApply     Status = "ToApply"
	Progressing Status = "Progressing"
	Succeeded   Status = "Succeeded"
	Failed      Status = "Failed"
	TimeOut     Status = "TimeOut"
	Skip        Status = "Skip"
)

// Enum returns the values.
func (Status) Enum() []string {
	return []string{string(ToApply), string(Progressing), string(Succeeded), string(Failed), string(TimeOut), string(Skip)}
}

// ClusterStatus is the status of a cluster, and the time since which it has
// this status.
type ClusterStatus struct {
	Cluster string
	Status  Status
	Since   time.Time // zero if unknown; the strategy then does not need it
}

type rolloutDoc struct {
	Placement objectName         `json:"placement"`
	Strategy  strategyDoc        `json:"strategy"`
	Status    []clusterStatusDoc `json:"status,omitzero"`
	ref       Ref
}

type strategyDoc struct {
	Type                StrategyType `json:"type" policyMerge:"discriminator"`
	All                 *limitsDoc   `json:"all,omitzero"`
	Progressive         *limitsDoc   `json:"progressive,omitzero"`
	ProgressivePerGroup *limitsDoc   `json:"progressivePerGroup,omitzero"`
}

type limitsDoc struct {
	MaxConcurrency          *amount    `json:"maxConcurrency,omitzero"`
	MandatoryDecisionGroups []groupDoc `json:"mandatoryDecisionGroups,omitzero"`
	MinSuccessTime          duration   `json:"minSuccessTime,omitzero"`
	ProgressDeadline        deadline   `json:"progressDeadline,omitzero"`
	MaxFailures             amount     `json:"maxFailures,omitzero"`
}

// Validate warns about a limit that the type does not have.
func (d *strategyDoc) Validate(at *diag.At) {
	for field, limits := range map[string]*limitsDoc{"all": d.All, "progressivePerGroup": d.ProgressivePerGroup} {
		if limits != nil && limits.MaxConcurrency != nil {
			at.Field(field).Field("maxConcurrency").Warnf(diag.FieldNotUsed, "use type Progressive", "has no effect for type %s", d.Type)
		}
	}
}

type groupDoc struct {
	GroupName  string  `json:"groupName,omitzero"`
	GroupIndex *uint16 `json:"groupIndex,omitzero"`
}

// Validate checks that the group is named.
func (d *groupDoc) Validate(at *diag.At) {
	if d.GroupName == "" && d.GroupIndex == nil {
		at.Errorf(diag.MissingField, "", "groupName or groupIndex is required")
	}
}

type clusterStatusDoc struct {
	Cluster            objectName `json:"cluster"`
	Status             Status     `json:"status"`
	LastTransitionTime *time.Time `json:"lastTransitionTime,omitzero"`
}

// Validate checks that each cluster has one status, with a time if the
// strategy needs it.
func (d *rolloutDoc) Validate(at *diag.At) {
	place := at.Field("placement")
	d.ref = Ref{PlacementKind, string(d.Placement), place.Pos(), place.Path()}
	strategy := d.Strategy.strategy()
	seen := map[objectName]bool{}
	for i, s := range d.Status {
		place := at.Field("status").Index(i)
		if seen[s.Cluster] {
			place.Field("cluster").Errorf(diag.DuplicateEntry, "", "duplicate status of cluster %q", s.Cluster)
		}
		seen[s.Cluster] = true
		soaks := s.Status == Succeeded && strategy.MinSuccessTime > 0
		expires := (s.Status == Progressing || s.Status == Failed) && strategy.ProgressDeadline != nil
		switch {
		case s.LastTransitionTime != nil:
		case soaks:
			place.Field("lastTransitionTime").Errorf(diag.MissingField, "", "is required for status %s with minSuccessTime", s.Status)
		case expires:
			place.Field("lastTransitionTime").Errorf(diag.MissingField, "", "is required for status %s with progressDeadline", s.Status)
		}
	}
}

func (d *rolloutDoc) resource(meta *resource.Meta) Resource {
	r := &Rollout{Meta: *meta, Placement: d.ref, Strategy: d.Strategy.strategy()}
	for _, s := range d.Status {
		status := ClusterStatus{Cluster: string(s.Cluster), Status: s.Status}
		if s.LastTransitionTime != nil {
			status.Since = *s.LastTransitionTime
		}
		r.Status = append(r.Status, status)
	}
	return r
}

func (d *strategyDoc) strategy() Strategy {
	s := Strategy{Type: d.Type}
	limits := cmp.Or(d.Progressive, d.ProgressivePerGroup, d.All)
	if limits == nil {
		return s
	}
	s.MaxConcurrency, s.MaxFailures = (*Amount)(limits.MaxConcurrency), Amount(limits.MaxFailures)
	s.MinSuccessTime, s.ProgressDeadline = time.Duration(limits.MinSuccessTime), limits.ProgressDeadline.after
	for _, g := range limits.MandatoryDecisionGroups {
		ref := GroupRef{Name: g.GroupName}
		if g.GroupIndex != nil {
			ref.Index = int(*g.GroupIndex)
		}
		s.MandatoryGroups = append(s.MandatoryGroups, ref)
	}
	return s
}

// duration is a length of time; 0 needs no unit.
type duration time.Duration

// DecodeAt reads a duration.
func (d *duration) DecodeAt(in *strict.Value) {
	var parsed conf.Duration
	if in.Text() != "0" && strict.Decode(in, &parsed) {
		*d = duration(parsed)
	}
}

// deadline is a duration, or None.
type deadline struct{ after *time.Duration }

// DecodeAt reads a deadline.
func (d *deadline) DecodeAt(in *strict.Value) {
	var parsed conf.Duration
	if in.Text() != "None" && strict.Decode(in, &parsed) {
		after := time.Duration(parsed)
		d.after = &after
	}
}

// amount is an [Amount] as written in a document: 3, "3" or "25%".
type amount Amount

// DecodeAt reads an amount.
func (a *amount) DecodeAt(in *strict.Value) {
	digits, percent := strings.CutSuffix(in.Text(), "%")
	value, err := strconv.ParseUint(digits, 10, 31)
	switch {
	case err != nil:
		in.At().Errorf(diag.BadValue, `write a number such as 3, or a percentage such as "25%"`, "bad number of clusters %s", describe(in))
	case percent && value > 100:
		in.At().Errorf(diag.OutOfRange, "", "a percentage is from 0%% to 100%%, not %d%%", value)
	}
	*a = amount{int(value), percent}
}

func describe(in *strict.Value) string {
	if text := in.Text(); text != "" {
		return fmt.Sprintf("%q", text)
	}
	return "of another type"
}
