namespace Treepie.Store;

/// <summary>An unchanging view of all documents of a database. One thread at a time; must be disposed.</summary>
public sealed class DatabaseSnapshot : IDisposable
{
    internal DatabaseSnapshot()
    {
    }

    /// <summary>Etag of the last change seen.</summary>
    public long LastEtag => throw new NotImplementedException();

    /// <summary>Change vector of the last change seen; empty for an empty database.</summary>
    public string ChangeVector => throw new NotImplementedException();

    /// <summary>Documents.</summary>
    public long DocumentCount => throw new NotImplementedException();

    /// <summary>Tombstones.</summary>
    public long TombstoneCount => throw new NotImplementedException();

    /// <summary>The document of that id (case-insensitive).</summary>
    public bool TryGet(ReadOnlySpan<char> id, out Document document) => throw new NotImplementedException();

    /// <summary>The document of that id in UTF-8 (case-insensitive).</summary>
    public bool TryGet(ReadOnlySpan<byte> id, out Document document) => throw new NotImplementedException();

    /// <summary>Documents whose id starts with a prefix, in id order.</summary>
    public DocumentCursor ByPrefix(DocumentPrefix prefix) => throw new NotImplementedException();

    /// <summary>Documents of one collection (case-insensitive), in order of their etag, greater than <paramref name="afterEtag"/>.</summary>
    public DocumentCursor ByCollection(string collection, long afterEtag = 0) => throw new NotImplementedException();

    /// <summary>All documents in order of their etag, greater than <paramref name="afterEtag"/>.</summary>
    public DocumentCursor ByEtag(long afterEtag = 0) => throw new NotImplementedException();

    /// <summary>All documents, the last changed first.</summary>
    public DocumentCursor NewestFirst() => throw new NotImplementedException();

    /// <summary>
    /// The change feed: every document and tombstone of a collection (null: of all) whose etag is greater than
    /// <paramref name="afterEtag"/>, in order of etag.
    /// </summary>
    public ChangeFeed Changes(string? collection, long afterEtag) => throw new NotImplementedException();

    /// <summary>Collections with their counts, sorted by name. A collection that became empty is left out.</summary>
    public IReadOnlyList<CollectionStatistics> Collections() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}

/// <summary>One collection.</summary>
/// <param name="Name">Name as first written.</param>
/// <param name="DocumentCount">Documents.</param>
/// <param name="SizeBytes">Bytes of their JSON.</param>
/// <param name="LastEtag">Etag of the last change in it, deletions included.</param>
public sealed record CollectionStatistics(string Name, long DocumentCount, long SizeBytes, long LastEtag);

/// <summary>Which documents to list by id.</summary>
public sealed record DocumentPrefix
{
    /// <summary>Start of the id (case-insensitive).</summary>
    public required string StartsWith { get; init; }

    /// <summary>What may follow it: alternatives apart by <c>|</c>, with <c>*</c> and <c>?</c>; null: anything.</summary>
    public string? Matches { get; init; }

    /// <summary>What must not follow it, same form.</summary>
    public string? Exclude { get; init; }

    /// <summary>Id after which to begin; null: at the beginning.</summary>
    public string? StartAfter { get; init; }
}
