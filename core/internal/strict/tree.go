package strict

import "reflect"

// tree decodes a value, which may be null, according to its own kind.
func (d *decoder) tree() any {
	if !d.fitsTag() {
		d.in.skip()
		return nil
	}
	switch d.in.kind() {
	case Mapping:
		d.in.enter()
		fields := map[string]any{}
		for name := range d.fields {
			fields[name] = d.tree()
		}
		return fields
	case List:
		d.in.enter()
		list := []any{}
		for range d.elements {
			list = append(list, d.tree())
		}
		return list
	case Null:
		d.in.skip()
		return nil
	}
	return d.plain()
}

// plain decodes a scalar that is not null according to its own kind.
func (d *decoder) plain() any {
	decode := func(target any) any {
		v := reflect.ValueOf(target).Elem()
		d.scalar(v, planOf(v.Type()))
		return v.Interface()
	}
	switch d.in.kind() {
	case Bool:
		return decode(new(bool))
	case Int:
		switch negative, zero := sign(string(d.in.peek())); {
		case negative && zero:
			return decode(new(float64)) // an integer cannot be a negative zero
		case negative:
			return decode(new(int64))
		}
		return decode(new(uint64))
	case Float:
		return decode(new(float64))
	}
	return d.in.scalar()
}
