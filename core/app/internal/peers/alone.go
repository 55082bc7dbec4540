package main

import (
	"context"
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// alone returns the work that no peer of the page does. The page has meshmatch's figures, and "-"
// for the peer.
func alone() []comparison {
	const subject = "Questions that no peer of this page answers"
	return []comparison{
		{
			subject: subject, label: "reach of an edit", work: "which dataplanes an edited policy changes, and in which confs",
			input: "the fleet: 1,000 dataplanes with 10 outbounds, 1,000 MeshTimeouts; the one of a team changes", unit: "s",
			note: "the time has the edit of the mesh",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				return reachOfEdit(ctx, s.pick(1_000, 60), s.pick(1_000, 30))
			},
		},
		{
			subject: subject, label: "turned decisions", work: "whether an edit turns the decision of any request, with such a request",
			input: "100 permissions with 8 entries; one loses an entry that allows", unit: "s",
			prepare: func(ctx context.Context, s size) (*contest, error) { return turnedDecisions(ctx, s.pick(100, 20)) },
		},
	}
}

// reachOfEdit changes a policy and undoes that, in turn, and compares the views.
func reachOfEdit(ctx context.Context, dataplanes, policies int) (*contest, error) {
	set := fleetOf(dataplanes)
	set.Policies = shape.Fleet(meshtimeout.Kind(), policies)
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(ctx, core.Batch{Upsert: set}); err != nil {
		return nil, err
	}
	original := set.Policies[1] // for a team
	changed := *original
	changed.To = []resource.Item{{TargetRef: original.To[0].TargetRef, Conf: shape.Timeout(2)}}
	versions := [2]*resource.Policy{&changed, original}
	next := 0
	compare := func() ([]core.Change, error) {
		before := engine.View()
		batch := core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{versions[next]}}}
		next = 1 - next
		_, err := engine.Apply(ctx, batch)
		return core.Compare(before, engine.View()), err
	}
	return only(func() (string, error) {
		changes, err := compare()
		if err == nil && len(changes) == 0 {
			err = fmt.Errorf("no dataplane is changed")
		}
		return fmt.Sprint(len(changes)), err
	}, func() error {
		_, err := compare()
		return err
	}), nil
}

// turnedDecisions compares the permissions of an inbound with those in which the last policy
// has one entry less.
func turnedDecisions(ctx context.Context, policies int) (*contest, error) {
	kind := meshtrafficpermission.Kind()
	var lists [2]*access.List
	var p *permission.Permissions
	for i := range lists {
		list := shape.Permissions(kind, policies)
		if i == 1 {
			c := list[policies-1].Rules[0].Conf.(*meshtrafficpermission.RuleConf)
			c.Allow = c.Allow[1:]
		}
		var err error
		if p, err = decisionList(ctx, kind, list); err != nil {
			return nil, err
		}
		lists[i] = access.ListOf(p)
	}
	space := &access.Space{Protocol: p.Protocol}
	compare := func() ([]access.Difference, error) {
		return access.Compare(space, lists[0], lists[1], access.Limits{})
	}
	return only(func() (string, error) {
		differences, err := compare()
		if err == nil && len(differences) != 1 {
			err = fmt.Errorf("%d differences, want that of the removed entry", len(differences))
		}
		return fmt.Sprint(len(differences)), err
	}, func() error {
		_, err := compare()
		return err
	}), nil
}

// only returns a contest without peers.
func only(answer func() (string, error), work func() error) *contest {
	return &contest{contenders: []contender{{name: meshmatch, answer: answer, operate: repeat(work)}}}
}
