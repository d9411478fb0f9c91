using Treepie.Store;

namespace Treepie.Queries.TimeSeries;

/// <summary>The current entry of a time series; one object is reused for all entries. Not thread-safe.</summary>
internal sealed class SeriesEntry(SeriesSource source)
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
        return _documents[Tag] = Tag.Length <= DocumentId.MaxBytes ? source.Load(Tag) : null; // at most a few hundred tags
    }
}
