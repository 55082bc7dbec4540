package rules

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// filler merges the items of a part for one outbound after another. Of the
// items that select every outbound only those are looked at for each that are
// origins of all of them together: in the fleet of package shape 3 of 270.
type filler struct {
	section *resource.Section
	matched match.Matched
	filing  *filing
	always  []itemRef // in place of filing.everywhere

	filled  []itemRef // by the last fill, highest priority first
	numbers []int     // of origins
	origins []Origin
}

func newFiller(section *resource.Section, matched match.Matched, f *filing) filler {
	r := filler{section: section, matched: matched, filing: f, always: f.everywhere}
	if !section.Conf.HidesBelow() {
		r.always = r.deciding()
	}
	return r
}

// deciding returns the items for every outbound that may make a difference to
// one, in confs of which an item that sets nothing hides nothing: who sets
// nothing beside those that are always there sets nothing beside more. Those
// that are attached to a route are not always there, so they stay.
func (f *filler) deciding() []itemRef {
	var merger resource.Merger
	var deciding []itemRef
	complete := false
	for number := len(f.always) - 1; number >= 0; number-- {
		switch p, index := f.always[number].of(f.matched); {
		case p.TargetRef.Kind.IsRoute():
			deciding = append(deciding, f.always[number])
		case !complete:
			if merger == nil {
				merger = f.section.Conf.NewMerger()
			}
			complete = merger.Fill(p.To[index].Conf, number)
		}
	}
	if merger == nil {
		return f.always
	}
	f.numbers = merger.Origins(f.numbers[:0])
	if len(f.numbers) == 0 { // they set nothing, but an empty conf is a conf
		return f.always
	}
	for _, number := range f.numbers {
		deciding = append(deciding, f.always[number])
	}
	slices.Sort(deciding)
	return deciding
}

// fill merges the items that apply to an outbound with the given tags (SPEC
// 4.2), or to a route of it: those that select the outbound, those that select
// the route, and those of policies that are attached to the route (SPEC 4.3). It
// returns nil where none applies. The origins are good until the next call.
//
// An item stands in one of four files, each in ascending order, so the next one
// to look at is the largest of their ends.
func (f *filler) fill(tags resource.Tags, route *resource.Policy) (conf resource.Conf, origins []Origin) {
	files := [4][]itemRef{f.always, f.filing.services[tags.Value(resource.ServiceTag)], f.filing.subsets}
	if route != nil {
		files[3] = f.filing.routes[route.Name]
	}
	f.filled = f.filled[:0]
	last := len(files[0]) + len(files[1]) + len(files[2]) + len(files[3])
	var merger resource.Merger
	for complete := false; !complete; {
		file := highest(&files)
		if file == nil {
			break
		}
		n := len(*file) - 1
		ref := (*file)[n]
		*file = (*file)[:n]
		p, index := ref.of(f.matched)
		if !applies(p, index, tags, route) {
			continue
		}
		if merger == nil {
			merger = f.section.Conf.NewMerger()
		}
		f.filled = append(f.filled, ref)
		complete = merger.Fill(p.To[index].Conf, last-len(f.filled))
	}
	if merger == nil {
		return nil, nil
	}
	f.numbers = merger.Origins(f.numbers[:0])
	f.origins = f.origins[:0]
	for _, number := range f.numbers {
		p, index := f.filled[last-number-1].of(f.matched)
		f.origins = append(f.origins, Origin{p, index})
	}
	return merger.Conf(), f.origins
}

// highest returns the file whose last item has the highest priority, or nil if
// all are empty.
func highest(files *[4][]itemRef) (file *[]itemRef) {
	for i := range files {
		if n := len(files[i]); n > 0 && (file == nil || files[i][n-1] > (*file)[len(*file)-1]) {
			file = &files[i]
		}
	}
	return file
}

// applies checks what the files do not: the route that the policy is attached
// to, a subset's tags, the kind and namespace of a route.
func applies(p *resource.Policy, index int, tags resource.Tags, route *resource.Policy) bool {
	if p.TargetRef.Kind.IsRoute() && (route == nil || !namesRoute(&p.TargetRef, route)) {
		return false
	}
	t := &p.To[index].TargetRef
	if t.Kind.IsRoute() {
		return namesRoute(t, route)
	}
	return tags.Contains(t.Tags)
}

// contributions returns what the last conf was merged from.
func (f *filler) contributions() []Contribution {
	items := make([]Contribution, len(f.filled))
	for i, ref := range f.filled {
		p, index := ref.of(f.matched)
		items[len(items)-1-i] = Contribution{Origin{p, index}, p.To[index].Conf}
	}
	return items
}
