namespace Treepie.Store;

/// <summary>Which changes a feed gives; all that is set must hold. Immutable.</summary>
public sealed record ChangesOptions
{
    /// <summary>Changes behind this one, also of the past; null: from now on.</summary>
    public long? AfterEtag { get; init; }

    /// <summary>Of documents of this collection; null: of all.</summary>
    public string? Collection { get; init; }

    /// <summary>Of this document (compared without case); null: of all.</summary>
    public string? DocumentId { get; init; }

    /// <summary>Of documents whose id starts so (compared without case); null: of all.</summary>
    public string? IdPrefix { get; init; }
}
