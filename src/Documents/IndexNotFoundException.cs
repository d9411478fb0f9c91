namespace Treepie;

/// <summary>Thrown when a query or command names an index that does not exist.</summary>
public sealed class IndexNotFoundException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public IndexNotFoundException(string indexName)
        : base(
            $"There is no index '{indexName}' in this database. Names are case-insensitive; a query without 'from index' creates "
                + $"the index it needs.") =>
        IndexName = indexName;

    /// <summary>The name of the index.</summary>
    public string IndexName { get; }
}
