namespace Treepie.Indexes.Grouping;

/// <summary>A key of a query with <c>group by</c>.</summary>
/// <param name="Path">The path of its values in documents.</param>
/// <param name="IsContent">Whether all values of a document together are one key: <c>array(Tags[])</c>.</param>
internal sealed record GroupKey(string Path, bool IsContent = false)
{
    /// <summary>The name in queries: <c>ShipTo.City</c>, <c>array(Tags[])</c>.</summary>
    public string Name => IsContent ? $"array({Path})" : Path;

    /// <summary>The member with its value in the objects of groups.</summary>
    public string Member => MemberOf(Name);

    /// <summary>Escapes a name so that it is one member of a path.</summary>
    public static string MemberOf(string name) =>
        name.Replace("%", "%25", StringComparison.Ordinal)
            .Replace(".", "%2E", StringComparison.Ordinal)
            .Replace("[", "%5B", StringComparison.Ordinal)
            .Replace("]", "%5D", StringComparison.Ordinal)
            .Replace("'", "%27", StringComparison.Ordinal)
            .Replace("\"", "%22", StringComparison.Ordinal);
}
