namespace Treepie.Indexing;

/// <summary>The hits of one query, in order, one at a time.</summary>
public sealed class SearchResults : IDisposable
{
    internal SearchResults()
    {
    }

    /// <summary>All hits of the query, before skip and take. Exact.</summary>
    public long TotalCount => throw new NotImplementedException();

    /// <summary>Key of the current entry; lives until the next move.</summary>
    public ReadOnlySpan<byte> Key => throw new NotImplementedException();

    /// <summary>Score of the current entry; 0 where nothing is scored.</summary>
    public float Score => throw new NotImplementedException();

    /// <summary>Goes to the next hit; false after the last.</summary>
    public bool MoveNext() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
