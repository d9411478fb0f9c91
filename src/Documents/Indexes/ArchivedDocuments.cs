namespace Treepie.Indexes;

/// <summary>What an index does with archived documents: those with <c>@archived: true</c> in their metadata.</summary>
public enum ArchivedDocuments
{
    /// <summary>It does not hold them.</summary>
    ExcludeArchived,

    /// <summary>It holds them as any others.</summary>
    IncludeArchived,

    /// <summary>It holds no others.</summary>
    ArchivedOnly,
}
