using System.Globalization;
using System.Text;

namespace Treepie.Writes;

/// <summary>
/// The path of one value in a document: <c>Address.City</c>, <c>Lines[0].Amount</c>, <c>Counts.'two words'</c>.
/// </summary>
internal sealed class MemberPath
{
    private MemberPath(string text, IReadOnlyList<(string? Name, int Index)> steps) => (Text, Steps) = (text, steps);

    public string Text { get; }

    /// <summary>The steps from the document: the name of a member, or null and the index of an element.</summary>
    public IReadOnlyList<(string? Name, int Index)> Steps { get; }

    /// <summary>Parses a path.</summary>
    /// <exception cref="NotSupportedException">The text does not denote a single value.</exception>
    public static MemberPath Parse(string text)
    {
        var steps = new List<(string?, int)>();
        for (int at = 0; at < text.Length;)
        {
            if (text[at] == '[')
            {
                int end = text.IndexOf(']', at);
                if (end < 0
                    || !int.TryParse(
                        text.AsSpan(at + 1, end - at - 1), NumberStyles.None, CultureInfo.InvariantCulture, out int index))
                    throw Invalid(text);
                steps.Add((null, index));
                at = end + 1;
            }
            else
            {
                if (steps.Count > 0 && text[at++] != '.')
                    throw Invalid(text);
                steps.Add((NameAt(text, ref at), 0));
            }
        }

        return steps.Count > 0 && steps[0] is (not null, _) ? new MemberPath(text, steps) : throw Invalid(text);
    }

    private static string NameAt(string text, ref int at)
    {
        if (at < text.Length && text[at] == '\'')
        {
            var name = new StringBuilder();
            for (at++; at < text.Length; at++)
            {
                if (text[at] != '\'')
                    name.Append(text[at]);
                else if (at + 1 < text.Length && text[at + 1] == '\'')
                    name.Append(text[at++]);
                else
                    break;
            }

            if (at++ >= text.Length)
                throw Invalid(text);
            return name.ToString();
        }

        int length = text.AsSpan(at).IndexOfAny('.', '[');
        int start = at;
        at = length < 0 ? text.Length : at + length;
        return at > start ? text[start..at] : throw Invalid(text);
    }

    private static NotSupportedException Invalid(string text) => new(
        $"'{text}' names no single value of a document. Name a member: 'Address.City', or an element: 'Lines[0].Amount'.");
}
