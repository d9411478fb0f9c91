using Treepie.Rql;

namespace Treepie.Documents.Tests.Rql;

/// <summary>Members of the document in a selection in JavaScript, where they are certain.</summary>
public sealed class ScriptMembersTests
{
    [Theory]
    [InlineData("{ A: d.B, C: d.C.length, E: d . F, G: d?.H }", "B,C,F,H")]
    [InlineData("{ A: `${d.B + '}'} d.No`, C: /d.No/.test(d.C), S: 'd.No' /* d.No */, // d.No\n E: d.E }", "B,C,E")]
    [InlineData("{ A: d.B == 1, C: d.C === 1, D: [...d.D], E: -d.E }", "B,C,D,E")]
    [InlineData("{ A: d.hasOwnProperty('No'), M: x.d.No, N: dd.No, O: $d.No, d2: 1, P: d.P }", "P")]
    [InlineData("{ A: d.B, M: d.Lines.map(d => d.No) }", "")]
    [InlineData("{ A: d.B, M: d.Lines.map((d) => d.No) }", "")]
    [InlineData("{ A: d.B, M: (({ d }) => d.No)({ d: 1 }) }", "")]
    [InlineData("{ A: d.B, M: (function (d) { return d.No; })(1) }", "")]
    [InlineData("{ A: d.B, M: (() => { let d = 1; return d.No; })() }", "")]
    [InlineData("{ A: d.B, I: id(d) }", "")]
    [InlineData("{ A: d.B, I: d['C'] }", "")]
    [InlineData("{ A: d.B, M: (d.C = 1) }", "")]
    [InlineData("{ d }", "")]
    [InlineData("{ A: d.}", "")]
    [InlineData("{ A: 1 }", "")]
    public void Those_that_follow_its_name_are_found_unless_something_else_may_have_that_name(string script, string expected) =>
        Assert.Equal(expected, string.Join(',', ScriptMembers.Of(script, "d")));
}
