namespace Treepie.Rql;

/// <summary>Errors in the text of a query, with line, column, and the line itself with a marker below the position.</summary>
internal static class RqlErrors
{
    /// <summary>The maximum length of the quoted part of a line.</summary>
    private const int ExcerptLength = 120;

    /// <summary>Returns an error at a position of the text.</summary>
    public static InvalidQueryException At(string text, int position, string problem)
    {
        position = Math.Clamp(position, 0, text.Length);
        (int line, int column) = PlaceOf(text, position);
        int lineStart = position - column + 1;
        int lineEnd = text.IndexOf('\n', position);
        if (lineEnd < 0)
            lineEnd = text.Length;
        return new InvalidQueryException(
            $"{problem} (line {line}, column {column})\n{Excerpt(text, lineStart, lineEnd, position)}", line, column);
    }

    /// <summary>Returns the line and column of a position, both starting at 1.</summary>
    public static (int Line, int Column) PlaceOf(string text, int position)
    {
        int lineStart = position == 0 ? 0 : text.LastIndexOf('\n', position - 1) + 1;
        return (1 + text.AsSpan(0, lineStart).Count('\n'), position - lineStart + 1);
    }

    /// <summary>Returns the error for a number beyond those that documents can hold.</summary>
    public static InvalidQueryException TooLarge(string text, int position) => At(text, position, "This number is too large.");

    private static string Excerpt(string text, int lineStart, int lineEnd, int position)
    {
        int start = Math.Max(lineStart, position - (ExcerptLength * 2 / 3));
        int end = Math.Min(lineEnd, start + ExcerptLength);
        string shown = text[start..end].Replace('\t', ' ').Replace('\r', ' ').TrimEnd();
        string before = start > lineStart ? "…" : "";
        string after = end < lineEnd ? "…" : "";
        return $"  {before}{shown}{after}\n  {new string(' ', before.Length + position - start)}^";
    }
}
