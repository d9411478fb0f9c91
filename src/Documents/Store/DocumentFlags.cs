namespace Treepie.Store;

/// <summary>
/// What a document has beside its body, as its record and <c>@flags</c> of its metadata say. The numbers stand in records and
/// never change.
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

/// <summary>Which kind is which flag.</summary>
internal static class DocumentFlagsExtensions
{
    /// <summary>Kinds that belong to a document and go with it.</summary>
    public static ReadOnlySpan<Kind> KindsOfDocuments => [Kind.Attachment, Kind.Counter, Kind.TimeSeries];

    public static DocumentFlags Flag(this Kind kind) => kind switch
    {
        Kind.Attachment => DocumentFlags.HasAttachments,
        Kind.Counter => DocumentFlags.HasCounters,
        Kind.TimeSeries => DocumentFlags.HasTimeSeries,
        _ => DocumentFlags.None,
    };
}
