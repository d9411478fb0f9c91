using System.Buffers;
using System.Text;
using System.Text.Json;
using Treepie.Queries.Scripts;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>
/// Replaces the aggregates in a JavaScript selection over groups, such as <c>count()</c> and <c>sum(o.Freight)</c>, by the
/// members of the group that hold them. Texts and comments stay as they are; what stands in <c>${…}</c> of a text is code.
/// </summary>
internal sealed class GroupScript
{
    private static readonly SearchValues<string> _names =
        SearchValues.Create(["count", "key", "sum", "min", "max", "array"], StringComparison.Ordinal);

    private readonly ScriptBlock _script;
    private readonly GroupBinder _groups;
    private readonly StringBuilder _result = new();
    private int _at;

    private GroupScript(ScriptBlock script, GroupBinder groups) => (_script, _groups) = (script, groups);

    private string Text => _script.Text;

    /// <summary>Returns the selection over the members of groups.</summary>
    public static ScriptBlock Of(ScriptBlock script, GroupBinder groups)
    {
        var rewriter = new GroupScript(script, groups);
        rewriter.Code(end: '\0');
        return script with { Text = rewriter._result.ToString() };
    }

    /// <summary>Copies code up to a closing brace that belongs to none of its own, or up to the end.</summary>
    private void Code(char end)
    {
        int depth = 0;
        while (_at < Text.Length)
        {
            char next = Text[_at];
            if (next == end && depth == 0)
                return;
            depth += next == '{' ? 1 : next == '}' ? -1 : 0;
            if (next is '"' or '\'')
                Quoted(next);
            else if (next == '`')
                Template();
            else if (Text.AsSpan(_at).StartsWith("//"))
                CopyTo(Text.IndexOf('\n', _at));
            else if (Text.AsSpan(_at).StartsWith("/*"))
                CopyTo(Text.IndexOf("*/", _at + 2, StringComparison.Ordinal) is >= 0 and var close ? close + 2 : -1);
            else if (IsNamePart(next))
                Name();
            else
                CopyTo(_at + 1);
        }
    }

    private void Quoted(char quote)
    {
        int to = _at + 1;
        while (to < Text.Length && Text[to] != quote)
            to += Text[to] == '\\' ? 2 : 1;
        CopyTo(to + 1);
    }

    private void Template()
    {
        CopyTo(_at + 1);
        while (_at < Text.Length && Text[_at] != '`')
        {
            if (Text.AsSpan(_at).StartsWith("${"))
            {
                CopyTo(_at + 2);
                Code(end: '}');
                CopyTo(_at + 1);
            }
            else
            {
                CopyTo(_at + (Text[_at] == '\\' ? 2 : 1));
            }
        }

        CopyTo(_at + 1);
    }

    private void Name()
    {
        int to = _at;
        while (to < Text.Length && IsNamePart(Text[to]))
            to++;
        string name = Text[_at..to];
        bool isMember = Text.AsSpan(0, _at).TrimEnd() is [.., '.'];
        int open = to;
        while (open < Text.Length && char.IsWhiteSpace(Text[open]))
            open++;
        if (isMember
            || !_names.Contains(name)
            || open == Text.Length
            || Text[open] != '('
            || Text.IndexOf(')', open) is not (>= 0 and var close)
            || _groups.MemberOfCall(name, Text[(open + 1)..close].Trim(), _script.Position + _at) is not { } member)
        {
            CopyTo(to);
            return;
        }

        _result.Append(QueryScript.Group).Append("[\"").Append(JsonEncodedText.Encode(member)).Append("\"]");
        _at = close + 1;
    }

    private static bool IsNamePart(char one) => char.IsLetterOrDigit(one) || one is '_' or '$';

    /// <summary>Copies text as it is, up to a position; a negative one is the end.</summary>
    private void CopyTo(int end)
    {
        end = end < 0 || end > Text.Length ? Text.Length : end;
        _result.Append(Text, _at, end - _at);
        _at = end;
    }
}
