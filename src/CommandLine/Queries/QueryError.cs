using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.CommandLine.Queries;

/// <summary>Formats an error message with the line of the query that it refers to and a mark below the column.</summary>
internal static partial class QueryError
{
    /// <summary>
    /// Returns the message alone if it already shows the position, names none, or names one outside the query.
    /// </summary>
    public static string Describe(string query, string message)
    {
        if (message.Contains('\n', StringComparison.Ordinal))
            return message;

        Match place = Place().Match(message);
        if (!place.Success)
            return message;

        int line = int.Parse(place.Groups["line"].ValueSpan, CultureInfo.InvariantCulture);
        int column = int.Parse(place.Groups["column"].ValueSpan, CultureInfo.InvariantCulture);
        string[] lines = query.Split('\n');
        if (line < 1 || line > lines.Length || column < 1 || column > lines[line - 1].Length + 1)
            return message;

        // Replace each tab by one blank, so that the mark is below the right column.
        string text = lines[line - 1].TrimEnd('\r').Replace('\t', ' ');
        return new StringBuilder()
            .AppendLine(message)
            .Append("  ").AppendLine(text)
            .Append(' ', 2 + column - 1).Append('^')
            .ToString();
    }

    [GeneratedRegex(
        @"\bline (?<line>\d{1,6}),? column (?<column>\d{1,6})\b|\b(?<line>\d{1,6}):(?<column>\d{1,6})\b",
        RegexOptions.IgnoreCase)]
    private static partial Regex Place();
}
