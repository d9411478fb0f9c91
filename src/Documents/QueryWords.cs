using Treepie.Rql;

namespace Treepie;

/// <summary>The words of the query language, for editors that complete or highlight it. All are case-insensitive.</summary>
public static class QueryWords
{
    /// <summary>The keywords in the order in which an editor may offer them. Some are two words: <c>order by</c>.</summary>
    public static IReadOnlyList<string> Keywords => RqlKeywords.All;

    /// <summary>
    /// The functions as their calls begin: <c>search(</c>, and <c>score()</c> where nothing need stand between the parentheses.
    /// </summary>
    public static IReadOnlyList<string> Functions => RqlKeywords.Functions;
}
