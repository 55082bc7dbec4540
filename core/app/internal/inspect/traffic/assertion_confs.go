package traffic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// conf checks a field of a conf of each dataplane that is named.
func (t *tester) conf(c *specs.ConfCase) TestResult {
	kind, err := t.kind(c.Kind)
	if err != nil {
		return failed("%v", err)
	}
	dataplanes, err := t.dataplanesNamed(c.Dataplane)
	if err != nil {
		return failed("%v", err)
	}
	for _, d := range dataplanes {
		if result := t.confOf(c, kind, d); result.Result != TestPass {
			if len(dataplanes) > 1 {
				result.Why = d.Qualified() + ": " + result.Why
			}
			return result
		}
	}
	return TestResult{Result: TestPass}
}

// dataplanesNamed returns the dataplane with a name, those of a service with its prefix, or
// those that a selector key=value[,...] selects.
func (t *tester) dataplanesNamed(name string) ([]*resource.Dataplane, error) {
	if service, is := strings.CutPrefix(name, find.ServicePrefix); is {
		found, err := find.NewService(t.view, t.mesh, service, nil)
		if err != nil {
			return nil, err
		}
		return found.Dataplanes, nil
	}
	if strings.Contains(name, "=") {
		selection, err := find.ParseSelection(name)
		if err != nil {
			return nil, err
		}
		return find.SelectDataplanes(t.view, t.mesh, selection, nil)
	}
	d, err := find.Dataplane(t.view, t.mesh, find.Name{Name: name})
	return []*resource.Dataplane{d}, err
}

func (t *tester) confOf(c *specs.ConfCase, kind *resource.Kind, d *resource.Dataplane) TestResult {
	q := &inspect.ConfQuery{Kind: kind, Outbound: c.Outbound, Route: c.Route, Inbound: c.Inbound, Options: inspect.Options{Explain: true}}
	if m := c.Match; m != nil {
		q.Request = inspect.RequestQuery{SpiffeID: m.SpiffeID, SNI: m.SNI, Method: m.Method, Path: m.Path}
		for name, value := range m.Headers {
			q.Request.Headers = append(q.Request.Headers, name+"="+value)
		}
		for key, value := range m.Tags {
			q.Request.Tags = append(q.Request.Tags, key+"="+value)
		}
	}
	answer, err := inspect.NewConf(t.view, d, q)
	if err != nil {
		return failed("%v", err)
	}
	value, set := "", false
	if answer.EffectiveConf != nil {
		data, err := conf.Marshal(answer.EffectiveConf.Conf)
		if err != nil {
			return failed("%v", err)
		}
		value, set = valueAt(data, c.Field)
	}
	return judgeValue(&c.Expect, c.Field, value, set)
}

// valueAt returns the value at a JSON pointer in the JSON of a conf.
func valueAt(data []byte, pointer string) (text string, set bool) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return "", false
	}
	value = inspect.Lookup(value, pointer)
	if value == nil { // no conf has a null
		return "", false
	}
	if text, ok := value.(string); ok {
		return text, true
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err == nil
}

func judgeValue(want *specs.ConfCondition, field, value string, set bool) TestResult {
	have := field + " is " + value
	if !set {
		have = field + " is not set"
	}
	switch {
	case want.Set != nil && *want.Set != set:
		return failed("%s", have)
	case want.Set != nil && !set && want.Equals == nil && want.AtLeast == nil && want.AtMost == nil:
		return TestResult{Result: TestPass}
	case !set:
		return failed("%s", have)
	case want.Equals != nil && compareValues(value, string(*want.Equals)) != 0:
		return failed("%s, and not %s", have, *want.Equals)
	case want.AtLeast != nil && !ordered(value, string(*want.AtLeast)), want.AtMost != nil && !ordered(value, string(*want.AtMost)):
		return failed("%s, which is neither a duration nor a number that can be compared", have)
	case want.AtLeast != nil && compareValues(value, string(*want.AtLeast)) < 0:
		return failed("%s, which is less than %s", have, *want.AtLeast)
	case want.AtMost != nil && compareValues(value, string(*want.AtMost)) > 0:
		return failed("%s, which is more than %s", have, *want.AtMost)
	}
	return TestResult{Result: TestPass}
}

// ordered reports whether two values are both durations or both numbers.
func ordered(a, b string) bool {
	_, errA := time.ParseDuration(a)
	_, errB := time.ParseDuration(b)
	_, notA := strconv.ParseFloat(a, 64)
	_, notB := strconv.ParseFloat(b, 64)
	return errA == nil && errB == nil || notA == nil && notB == nil
}

// compareValues compares durations and numbers by value, other values as text.
func compareValues(a, b string) int {
	x, errX := time.ParseDuration(a)
	y, errY := time.ParseDuration(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	p, errP := strconv.ParseFloat(a, 64)
	q, errQ := strconv.ParseFloat(b, 64)
	if errP == nil && errQ == nil {
		return cmp.Compare(p, q)
	}
	return strings.Compare(a, b)
}
