namespace Treepie.Store;

/// <summary>Selects the changes that a feed reports. A change must match every option that is set. Immutable.</summary>
public sealed record ChangesOptions
{
    /// <summary>Reports changes with a greater etag, including past ones. Null: only changes made from now on.</summary>
    public long? AfterEtag { get; init; }

    /// <summary>Reports only changes of documents in this collection. Null: all collections.</summary>
    public string? Collection { get; init; }

    /// <summary>Reports only changes of this document (case-insensitive). Null: all documents.</summary>
    public string? DocumentId { get; init; }

    /// <summary>Reports only changes of documents whose id starts with this prefix (case-insensitive). Null: all
    /// documents.</summary>
    public string? IdPrefix { get; init; }
}
