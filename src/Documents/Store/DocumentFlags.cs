namespace Treepie.Store;

/// <summary>
/// The kinds of related data of a document, as in its record and in <c>@flags</c> of its metadata. The values are stored in
/// records and never change.
/// </summary>
[Flags]
internal enum DocumentFlags : ushort
{
    None = 0,
    HasAttachments = 1,
    HasCounters = 2,
    HasRevisions = 8,
    HasTimeSeries = 16,
}

/// <summary>Maps kinds to flags.</summary>
internal static class DocumentFlagsExtensions
{
    /// <summary>The kinds that belong to a document and are deleted with it.</summary>
    public static ReadOnlySpan<Kind> KindsOfDocuments => [Kind.Attachment, Kind.Counter, Kind.TimeSeries];

    public static DocumentFlags Flag(this Kind kind) => kind switch
    {
        Kind.Attachment => DocumentFlags.HasAttachments,
        Kind.Counter => DocumentFlags.HasCounters,
        Kind.TimeSeries => DocumentFlags.HasTimeSeries,
        _ => DocumentFlags.None,
    };
}
