using Treepie.Store;

namespace Treepie.Queries.TimeSeries;

/// <summary>The current entry of a time series; one object is reused for all entries. Not thread-safe.</summary>
internal sealed class SeriesEntry(DatabaseSnapshot snapshot)
{
    private readonly Dictionary<string, byte[]?> _documents = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Its UTC time plus the offset of the query.</summary>
    public long Ticks { get; set; }

    public double[] Values { get; set; } = [];

    public int Count { get; set; }

    public string? Tag { get; set; }

    /// <summary>Returns the body of the document that the tag names, or null if there is none.</summary>
    public byte[]? TagDocument()
    {
        if (Tag is null)
            return null;
        if (_documents.TryGetValue(Tag, out byte[]? known))
            return known;
        byte[]? body = Tag.Length <= DocumentId.MaxBytes && snapshot.TryGet(Tag, out Document document)
            ? document.Body.ToArray()
            : null;
        return _documents[Tag] = body; // a series has at most a few hundred tags
    }
}
