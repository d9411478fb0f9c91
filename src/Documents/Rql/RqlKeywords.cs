namespace Treepie.Rql;

/// <summary>The keywords of the language. All are case-insensitive.</summary>
internal static class RqlKeywords
{
    /// <summary>Words that cannot be an unquoted alias or the unquoted first part of a path.</summary>
    private static readonly string[] _reserved =
        ["as", "select", "where", "load", "group", "order", "include", "update", "offset", "limit", "scale"];

    /// <summary>Words that begin a clause after FROM.</summary>
    private static readonly string[] _clauseStarts =
        ["group", "where", "order", "load", "filter", "select", "include", "update", "limit", "offset", "filter_limit"];

    public static bool Is(string? word, string keyword) => string.Equals(word, keyword, StringComparison.OrdinalIgnoreCase);

    public static bool IsReserved(string? word) => Contains(_reserved, word);

    public static bool IsClauseStart(string? word) => Contains(_clauseStarts, word);

    private static bool Contains(string[] words, string? word)
    {
        foreach (string candidate in words)
            if (Is(word, candidate))
                return true;

        return false;
    }
}
