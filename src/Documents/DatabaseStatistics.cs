using Treepie.Indexes;

namespace Treepie;

/// <summary>Figures of a database at one moment.</summary>
public sealed record DatabaseStatistics
{
    /// <summary>Documents.</summary>
    public required long DocumentCount { get; init; }

    /// <summary>Tombstones of deleted documents that are still kept.</summary>
    public required long TombstoneCount { get; init; }

    /// <summary>Etag of the last change.</summary>
    public required long LastEtag { get; init; }

    /// <summary>Change vector of the last change; empty for an empty database.</summary>
    public required string ChangeVector { get; init; }

    /// <summary>Bytes on disk, indexes included.</summary>
    public required long SizeOnDiskBytes { get; init; }

    /// <summary>Indexes.</summary>
    public required IReadOnlyList<IndexStatistics> Indexes { get; init; }
}
