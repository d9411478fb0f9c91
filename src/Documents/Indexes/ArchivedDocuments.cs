namespace Treepie.Indexes;

/// <summary>How an index treats archived documents, which have <c>@archived: true</c> in their metadata.</summary>
public enum ArchivedDocuments
{
    /// <summary>Does not index archived documents.</summary>
    ExcludeArchived,

    /// <summary>Indexes archived documents like all others.</summary>
    IncludeArchived,

    /// <summary>Indexes only archived documents.</summary>
    ArchivedOnly,
}
