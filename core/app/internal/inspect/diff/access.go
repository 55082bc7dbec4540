package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Access describes how the decisions of an inbound change for the requests that it
// can receive (SPEC 13.1).
type Access struct {
	Dataplanes []string       `json:"dataplanes"` // KRIs, sorted
	Inbound    string         `json:"inbound"`    // as in [InboundOf]
	Opens      []AccessChange `json:"opens"`
	Closes     []AccessChange `json:"closes"`
	// Names are the names of the dataplanes, in the same order.
	Names []string `json:"-"`

	pos diag.Position // of the first dataplane
}

// AccessChange is a set of requests whose decision changes. One entry decides all
// of them before, and one after.
type AccessChange struct {
	Clients access.Condition `json:"clients"` // exactly these requests
	Witness inspect.Witness  `json:"witness"` // one of them
	Before  inspect.Decision `json:"before"`
	After   inspect.Decision `json:"after"`

	pos diag.Position // of the entry that decides after, if there is one
}

// accessDiffs compares the permissions of the inbounds of two views, for all requests.
// Inbounds share permissions, so each pair is compared once.
type accessDiffs struct {
	lists  map[requests.Inputs]*access.List
	known  map[accessPair]*accessDiff
	groups map[string]*Access // by inbound and changes
	losses losses
	limits access.Limits
	// unknown is the error of the first comparison that exceeds a limit;
	// unknownCount is the number of such comparisons.
	unknown      error
	unknownCount int
}

type accessPair struct {
	before, after requests.Inputs
	space         requests.Space
}

type accessDiff struct {
	opens, closes []AccessChange // for the requests that the inbound can receive
	// couldOpen and couldClose report changes for any client, with any
	// certificate.
	couldOpen, couldClose bool
	key                   string
}

// add compares the inbounds that a dataplane has in both views.
func (a *accessDiffs) add(d *differ, p pair, before, after []*results.Config) error {
	if d.after.kind != "" && d.after.kind != permission.KindName {
		return nil
	}
	if a.known == nil {
		*a = accessDiffs{lists: map[requests.Inputs]*access.List{}, known: map[accessPair]*accessDiff{}, groups: map[string]*Access{}, limits: requests.Limits(1)}
		a.losses.init(d, p.after.Mesh)
	}
	old, next := requests.ConfigIn(before), requests.ConfigIn(after)
	wasOpen, isOpen := !d.before.view.PermissionsApply(p.before), !d.after.view.PermissionsApply(p.after)
	for i := range p.after.Inbounds {
		name := find.InboundName(p.after, i)
		for j := range p.before.Inbounds {
			if !p.after.IsListener(i) || !p.before.IsListener(j) {
				continue
			}
			if find.InboundName(p.before, j) != name {
				continue
			}
			pair := accessPair{requests.InputsOf(old, p.before, j, wasOpen), requests.InputsOf(next, p.after, i, isOpen), a.spaceOf(d, p, i)}
			diff, err := a.diff(d, pair, old, next, p, j, i)
			if err != nil {
				return err
			}
			inbound := InboundOf{inspect.DataplaneKRI(d.after.view, p.after), name, p.after.Qualified(), p.after.Pos}
			var closes *accessDiff
			if len(diff.closes) > 0 {
				closes = diff
			}
			a.losses.addInbound(p, i, calledKey{
				inbound: name, closes: closes,
				before: listOfSide{a.list(pair.before, old, p.before, j), spaceOn(d.before, p.before, j)},
				after:  listOfSide{a.list(pair.after, next, p.after, i), spaceOn(d.after, p.after, i)},
			})
			if diff.couldOpen {
				d.diff.Opens = append(d.diff.Opens, inbound)
			}
			if diff.couldClose {
				d.diff.Closes = append(d.diff.Closes, inbound)
				stay := Stay{inbound.Dataplane, inbound.Inbound, StaysStreams, inbound.Name}
				if pair.space.Protocol == request.TCP {
					stay.What = StaysConnections
				}
				d.diff.Stays = append(d.diff.Stays, stay)
			}
			if len(diff.opens)+len(diff.closes) > 0 {
				a.group(inbound, diff, p.after.Pos)
			}
		}
	}
	return nil
}

// spaceOn returns the requests that an inbound of a dataplane can receive on one side.
func spaceOn(s side, d *resource.Dataplane, inbound int) requests.Space {
	space := requests.SpaceOf(s.view, d)
	space.Protocol = request.ProtocolOf(d, inbound)
	return space
}

// spaceOf returns the requests that an inbound of a dataplane can receive in one of the
// views.
func (a *accessDiffs) spaceOf(d *differ, p pair, inbound int) requests.Space {
	before, after := requests.SpaceOf(d.before.view, p.before), requests.SpaceOf(d.after.view, p.after)
	s := requests.Space{Protocol: request.ProtocolOf(p.after, inbound), Plain: before.Plain && after.Plain, NoTags: (before.NoTags || before.Plain) && (after.NoTags || after.Plain)}
	switch {
	case before.Plain, before.Domain == after.Domain:
		s.Domain = after.Domain
	case after.Plain:
		s.Domain = before.Domain
	}
	return s
}

func (a *accessDiffs) diff(d *differ, key accessPair, old, next *results.Config, p pair, before, after int) (*accessDiff, error) {
	if diff := a.known[key]; diff != nil {
		return diff, nil
	}
	x := a.list(key.before, old, p.before, before)
	y := a.list(key.after, next, p.after, after)
	diff, err := compareAccess(key.space, x, y, d.deciders(), a.limits)
	if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
		if a.unknownCount++; a.unknown == nil {
			a.unknown = fmt.Errorf("permissions of %s of %s: %w", find.InboundName(p.after, after), p.after.Name, limit)
		}
	} else if err != nil {
		return nil, err
	}
	a.known[key] = diff
	return diff, nil
}

// err returns an error if any comparison is unknown.
func (a *accessDiffs) err() error {
	if a.unknownCount > 1 {
		return fmt.Errorf("%w; %d more like this", a.unknown, a.unknownCount-1)
	}
	return a.unknown
}

// list returns the permissions of an inbound as a list.
func (a *accessDiffs) list(key requests.Inputs, config *results.Config, d *resource.Dataplane, inbound int) *access.List {
	list := a.lists[key]
	if list == nil {
		list = access.ListOf(requests.PermissionsOf(config, d, inbound, !key.Open))
		a.lists[key] = list
	}
	return list
}

// sides contains the options that differ between two views.
type sides struct{ before, after inspect.Options }

// deciders returns the options with which the deciding entries of both views
// are printed.
func (d *differ) deciders() sides {
	of := func(s side) inspect.Options { return inspect.Options{Source: d.source, Semantics: s.view.Semantics()} }
	return sides{of(d.before), of(d.after)}
}

// compareAccess compares two lists. If it returns a [*access.LimitError], the difference
// is unknown: the inbound could open and close.
func compareAccess(s requests.Space, before, after *access.List, options sides, limits access.Limits) (*accessDiff, error) {
	diff := &accessDiff{couldOpen: true, couldClose: true}
	all, err := access.Compare(&access.Space{Protocol: s.Protocol}, before, after, limits)
	if err != nil {
		return diff, err
	}
	diff.couldOpen = slices.ContainsFunc(all, func(d access.Difference) bool { return d.After.Allow })
	diff.couldClose = slices.ContainsFunc(all, func(d access.Difference) bool { return !d.After.Allow })
	here, err := access.Compare(s.Access(), before, after, limits)
	if err != nil {
		return diff, err
	}
	for i := range here {
		change := AccessChange{
			Witness: inspect.NewWitness(here[i].Witness),
			Before:  inspect.NewDecision(here[i].Before, options.before), After: inspect.NewDecision(here[i].After, options.after),
		}
		if by := here[i].After.By; by != nil {
			change.pos = positionOf(by)
		}
		if change.Clients, err = access.ConditionOf(before, after, &here[i]); err != nil {
			return diff, err
		}
		if here[i].After.Allow {
			diff.opens = append(diff.opens, change)
		} else {
			diff.closes = append(diff.closes, change)
		}
	}
	diff.key = string(content.Encode([2][]AccessChange{diff.opens, diff.closes}))
	return diff, nil
}

// group adds an inbound to the group with equal changes.
func (a *accessDiffs) group(inbound InboundOf, diff *accessDiff, pos diag.Position) {
	key := inbound.Inbound + "\x00" + diff.key
	group := a.groups[key]
	if group == nil {
		group = &Access{Inbound: inbound.Inbound, Opens: emptyIfNil(diff.opens), Closes: emptyIfNil(diff.closes), pos: pos}
		a.groups[key] = group
	}
	group.Dataplanes = append(group.Dataplanes, inbound.Dataplane)
	group.Names = append(group.Names, inbound.Name)
}

func emptyIfNil(changes []AccessChange) []AccessChange {
	return append([]AccessChange{}, changes...)
}

// all returns the groups by their first dataplane and their inbound.
func (a *accessDiffs) all() []Access {
	var out []Access
	for _, group := range a.groups {
		out = append(out, *group)
	}
	slices.SortFunc(out, func(x, y Access) int {
		return cmp.Or(cmp.Compare(x.Dataplanes[0], y.Dataplanes[0]), cmp.Compare(x.Inbound, y.Inbound))
	})
	return out
}
