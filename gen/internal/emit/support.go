package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// call prints a call of a support function, and requests the function.
func (e *emitter) call(function string, args ...jen.Code) *jen.Statement {
	return jen.Id(e.supportName(function)).Call(args...)
}

// concat requests the state of lists that are appended to, and returns the name
// of the generic type.
func (e *emitter) concat() string { return e.supportName("mergeAppended") }

func (e *emitter) supportName(function string) string {
	name, fresh := e.names.nameFor("support "+function, function)
	if fresh {
		e.queue = append(e.queue, func() {
			e.support = append(e.support, e.supportCode(function, name))
		})
	}
	return name
}

func (e *emitter) supportCode(function, name string) jen.Code {
	digest := func() *jen.Statement { return jen.Id("d").Op("*").Qual(xxhash, "Digest") }
	switch function {
	case "mergeLeaf":
		return jen.Commentf("%s yields the leaf path+name, if an item set it.", name).Line().
			Func().Id(name).Params(jen.List(jen.Id("path"), jen.Id("name")).String(), jen.Id("item").Int32(), yieldParam()).Bool().Block(
			jen.Return(jen.Id("item == 0 || yield(path+name, int(item)-1)")))
	case "mergeOrigin":
		return jen.Commentf("%s adds an item, if there is one, to dst[base:], which is ascending.", name).Line().
			Func().Id(name).Params(jen.Id("dst").Index().Int(), jen.Id("base").Int(), jen.Id("item").Int32()).Index().Int().Block(
			jen.If(jen.Id("item == 0")).Block(jen.Return(jen.Id("dst"))),
			jen.List(jen.Id("i"), jen.Id("found")).Op(":=").Qual("slices", "BinarySearch").Call(jen.Id("dst[base:]"), jen.Id("int(item)-1")),
			jen.If(jen.Id("found")).Block(jen.Return(jen.Id("dst"))),
			jen.Return(jen.Qual("slices", "Insert").Call(jen.Id("dst"), jen.Id("base+i"), jen.Id("int(item)-1"))))
	case "mergeRoom":
		return jen.Commentf("%s returns room, or a larger copy, with n free elements before the last used ones.", name).Line().
			Func().Id(name).Types(jen.Id("E").Any()).Params(jen.Id("room").Index().Id("E"), jen.List(jen.Id("used"), jen.Id("n")).Int()).Index().Id("E").Block(
			jen.If(jen.Id("len(room)-used >= n")).Block(jen.Return(jen.Id("room"))),
			jen.Id("grown").Op(":=").Make(jen.Index().Id("E"), jen.Id("used+max(used, n)")),
			jen.Id("copy(grown[len(grown)-used:], room[len(room)-used:])"),
			jen.Return(jen.Id("grown")))
	case "mergeEscape":
		return jen.Commentf("%s escapes a key for a JSON pointer.", name).Line().
			Func().Id(name).Params(jen.Id("key").String()).String().Block(
			jen.Return(jen.Qual("strings", "ReplaceAll").Call(
				jen.Qual("strings", "ReplaceAll").Call(jen.Id("key"), jen.Lit("~"), jen.Lit("~0")), jen.Lit("/"), jen.Lit("~1"))))
	case "mergeAppended":
		return e.appended(name)
	case "hashWord":
		return jen.Func().Id(name).Params(digest(), jen.Id("x").Uint64()).Block(
			jen.Var().Id("b").Index(jen.Lit(8)).Byte(),
			jen.Qual("encoding/binary", "LittleEndian").Dot("PutUint64").Call(jen.Id("b[:]"), jen.Id("x")),
			jen.Id("d.Write(b[:])"))
	case "hashString":
		return jen.Func().Id(name).Params(digest(), jen.Id("x").String()).Block(
			e.call("hashWord", jen.Id("d"), jen.Id("uint64(len(x))")),
			jen.Id("d.WriteString(x)"))
	case "hashBool":
		return jen.Func().Id(name).Params(digest(), jen.Id("x").Bool()).Block(
			jen.If(jen.Id("x")).Block(e.call("hashWord", jen.Id("d"), jen.Lit(1))).
				Else().Block(e.call("hashWord", jen.Id("d"), jen.Lit(0))))
	case "hashFloat":
		return jen.Func().Id(name).Params(digest(), jen.Id("x").Float64()).Block(
			jen.If(jen.Id("x == 0")).Block(jen.Id("x = 0").Comment("-0 equals 0")),
			e.call("hashWord", jen.Id("d"), jen.Qual("math", "Float64bits").Call(jen.Id("x"))))
	}
	panic("emit: no support function " + function)
}

// appended prints the state of lists that are appended to. They are filled from
// the highest priority, so they grow at the front; each conf adds one run of
// elements.
func (e *emitter) appended(name string) jen.Code {
	run, _ := e.names.nameFor("support run", "mergeRun")
	list := func() *jen.Statement { return jen.Index().Id("E") }
	method := func() *jen.Statement { return jen.Func().Params(jen.Id("s").Op("*").Id(name).Types(jen.Id("E"))) }
	return jen.Commentf("%s is the state of a list that is appended to.", name).Line().
		Type().Id(name).Types(jen.Id("E").Any()).Struct(
		jen.Id("at").Int32().Comment("the highest item that has the list"),
		jen.Id("room").Add(list()).Comment("ends with the list"),
		jen.Id("runs").Index().Id(run).Comment("from the end of the list to its front"),
	).Line().Line().
		Commentf("%s is a run of elements of one item.", run).Line().
		Type().Id(run).Struct(jen.Id("item").Int32(), jen.Id("n").Int()).Line().Line().
		Add(method()).Id("fill").Params(jen.List(jen.Id("list"), jen.Id("lower")).Add(list()), jen.Id("item").Int32()).Add(list()).Block(
		jen.If(jen.Id("lower == nil")).Block(jen.Return(jen.Id("list"))),
		jen.If(jen.Id("s.at == 0")).Block(jen.Id("s.at = item"), jen.Id("list").Op("=").Add(list()).Values()),
		jen.If(jen.Id("len(lower) == 0")).Block(jen.Return(jen.Id("list"))),
		jen.Id("s.runs = append(s.runs, "+run+"{item, len(lower)})"),
		jen.Id("s.room").Op("=").Add(e.call("mergeRoom", jen.Id("s.room"), jen.Id("len(list)"), jen.Id("len(lower)"))),
		jen.Id("list = s.room[len(s.room)-len(list)-len(lower):]"),
		jen.Id("copy(list, lower)"),
		jen.Return(jen.Id("list"))).Line().Line().
		Add(method()).Id("top").Params().Int32().Block(
		jen.If(jen.Id("len(s.runs) == 0")).Block(jen.Return(jen.Id("s.at"))),
		jen.Return(jen.Id("s.runs[0].item"))).Line().Line().
		Add(method()).Id("origins").Params(jen.Id("dst").Index().Int(), jen.Id("base").Int()).Index().Int().Block(
		jen.If(jen.Id("len(s.runs) == 0")).Block(jen.Return(e.addOrigin("s.at"))),
		jen.For(jen.Id("_, run").Op(":=").Range().Id("s.runs")).Block(jen.Id("dst").Op("=").Add(e.addOrigin("run.item"))),
		jen.Return(jen.Id("dst"))).Line().Line().
		Add(method()).Id("leaves").Params(jen.Id("path").String(), yieldParam()).Bool().Block(
		jen.If(jen.Id("len(s.runs) == 0")).Block(jen.Return(e.emptyLeaf())),
		jen.Id("i").Op(":=").Lit(0),
		jen.For(jen.Id("_, run").Op(":=").Range().Qual("slices", "Backward").Call(jen.Id("s.runs"))).Block(
			jen.For(jen.Range().Id("run.n")).Block(
				jen.If(jen.Op("!").Id("yield").Call(
					jen.Id("path").Op("+").Lit("/").Op("+").Qual("strconv", "Itoa").Call(jen.Id("i")),
					jen.Id("int(run.item)-1"))).Block(jen.Return(jen.False())),
				jen.Id("i++"))),
		jen.Return(jen.True()))
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
