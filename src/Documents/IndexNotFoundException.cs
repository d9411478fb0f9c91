namespace Treepie;

/// <summary>A query or command names an index that does not exist.</summary>
public sealed class IndexNotFoundException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public IndexNotFoundException(string indexName)
        : base(
            $"There is no index '{indexName}' in this database. Names are case-insensitive; a query without 'from index' creates "
                + $"the index it needs.") =>
        IndexName = indexName;

    /// <summary>The name asked for.</summary>
    public string IndexName { get; }
}
