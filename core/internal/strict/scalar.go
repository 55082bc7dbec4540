package strict

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// reportText reports that a text is not valid for a type, with the error of
// UnmarshalText.
func reportText(at *diag.At, err error) {
	var known *diag.TextError
	if errors.As(err, &known) {
		at.Errorf(known.Code, known.Hint, "%s", known.What)
		return
	}
	at.Errorf(diag.BadValue, "", "%s", err)
}

// scalar decodes a string, number, boolean or text.
func (d *decoder) scalar(v reflect.Value, p *plan) {
	kind := d.in.kind()
	switch p.form {
	case fromText:
		if kind == Mapping || kind == List {
			d.wrongType("a string")
			return
		}
		d.scratch = append(d.scratch[:0], d.in.peek()...)
		d.in.skip()
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(d.scratch); err != nil {
			reportText(d.place(), err)
		}
	case text:
		switch {
		case kind != String && p.isEnum: // no quotes make a word of it
			d.place().Errorf(diag.WrongType, "use "+strings.Join(p.words, ", "), "must be a string, not %s", describe(kind, string(d.in.peek())))
			d.in.skip()
			return
		case kind != String:
			d.wrongType("a string")
			return
		}
		word := d.in.scalar()
		v.SetString(word)
		if p.isEnum {
			checkWord(d.place, word, p.words)
		}
	case boolean:
		b, err := strconv.ParseBool(string(d.in.peek()))
		if kind != Bool || err != nil {
			d.wrongType("true or false")
			return
		}
		d.in.skip()
		v.SetBool(b)
	case integer:
		if kind != Int {
			d.wrongType("a whole number")
			return
		}
		n, err := parseInt(string(d.in.peek()), p.bits)
		if d.inRange(p, err) {
			v.SetInt(n)
		}
	case natural:
		if kind != Int {
			d.wrongType("a whole number")
			return
		}
		n, err := parseUint(string(d.in.peek()), p.bits)
		if d.inRange(p, err) {
			v.SetUint(n)
		}
	case decimal:
		d.decimal(v, p)
	default:
		panic(fmt.Sprintf("strict: cannot decode into %s", p.t))
	}
}

func (d *decoder) decimal(v reflect.Value, p *plan) {
	if kind := d.in.kind(); kind != Int && kind != Float {
		d.wrongType("a number")
		return
	}
	f, err := parseFloat(string(d.in.peek()), p.bits)
	if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
		d.wrongType("a finite number") // JSON has only finite numbers
		return
	}
	if d.inRange(p, err) {
		v.SetFloat(f)
	}
}

// inRange consumes a number and reports whether parsing it gave no error.
func (d *decoder) inRange(p *plan, err error) bool {
	if err != nil {
		d.place().Errorf(diag.OutOfRange, "", "%s is out of range (%s)", d.in.peek(), p.t.Kind())
	}
	d.in.skip()
	return err == nil
}

// checkWord reports a word that an [Enum] does not have.
func checkWord(at func() *diag.At, word string, words []string) {
	if !slices.Contains(words, word) {
		at().Errorf(diag.UnknownValue, diag.DidYouMean(word, words), "unknown value %q", word)
	}
}

// wrongType reports that the next value has the wrong type, and skips it.
func (d *decoder) wrongType(want string) {
	kind, hint := d.in.kind(), ""
	word := string(d.in.peek())
	plain := plainKind(word)
	switch {
	case kind == Mapping || kind == List:
	case want == "a string":
		hint = "write it in quotes: " + strconv.Quote(word)
	case kind != String:
	case want == "true or false" && plain == Bool,
		want == "a whole number" && plain == Int,
		want == "a number" && (plain == Int || plain == Float):
		hint = "write it without quotes: " + word
	default:
		if old, differs := inYAML11(word); differs && strings.HasPrefix(old, aNumber) == (want != "true or false") {
			hint = "write " + strings.TrimPrefix(old, aNumber) + ", as which YAML 1.1 reads it"
		}
	}
	d.place().Errorf(diag.WrongType, hint, "must be %s, not %s", want, describe(kind, word))
	d.in.skip()
}
