using Treepie.Store;

namespace Treepie.Queries.TimeSeries;

/// <summary>The entry that is looked at; one object for all of them. Not thread-safe.</summary>
internal sealed class SeriesEntry(DatabaseSnapshot snapshot)
{
    private readonly Dictionary<string, byte[]?> _documents = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>When, UTC, with the offset of the query.</summary>
    public long Ticks { get; set; }

    public double[] Values { get; set; } = [];

    public int Count { get; set; }

    public string? Tag { get; set; }

    /// <summary>The body of the document that the tag names; null where there is none.</summary>
    public byte[]? TagDocument()
    {
        if (Tag is null)
            return null;
        if (_documents.TryGetValue(Tag, out byte[]? known))
            return known;
        byte[]? body = Tag.Length <= DocumentId.MaxBytes && snapshot.TryGet(Tag, out Document document)
            ? document.Body.ToArray()
            : null;
        return _documents[Tag] = body; // a series has at most some hundred tags
    }
}
