namespace Treepie;

/// <summary>Thrown when a query or command names an index that does not exist.</summary>
public sealed class IndexNotFoundException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public IndexNotFoundException(string indexName)
        : this(indexName, "")
    {
    }

    /// <param name="indexName">The name of the index.</param>
    /// <param name="advice">More to say, beginning with a space; empty for nothing.</param>
    internal IndexNotFoundException(string indexName, string advice)
        : base(
            $"There is no index '{indexName}' in this database.{advice} Names are case-insensitive; a query without 'from index' "
                + "creates the index it needs.") =>
        IndexName = indexName;

    /// <summary>The name of the index.</summary>
    public string IndexName { get; }
}
