namespace Treepie.Kinds;

/// <summary>An entry of a time series.</summary>
/// <param name="Timestamp">The time of the entry (UTC); unique in a series.</param>
/// <param name="Values">1 to 32 finite numbers.</param>
/// <param name="Tag">The source of the values, usually the id of a document; null if there is none. At most 255 bytes of
/// UTF-8.</param>
public sealed record TimeSeriesPoint(DateTime Timestamp, IReadOnlyList<double> Values, string? Tag = null)
{
    /// <summary>The maximum number of values of an entry.</summary>
    public const int MaxValues = 32;

    /// <summary>The maximum length of a tag in UTF-8 bytes.</summary>
    public const int MaxTagBytes = 255;

    internal void Check(string documentId, string name)
    {
        if (Values.Count is 0 or > MaxValues)
            throw Invalid(documentId, name, $"{Values.Count} values; 1 to {MaxValues} are allowed");
        for (int i = 0; i < Values.Count; i++) // no enumerator: a bulk insert checks millions
            if (!double.IsFinite(Values[i]))
                throw Invalid(documentId, name, $"the value {Values[i]}; only finite numbers are allowed");
        if (Tag is not null && System.Text.Encoding.UTF8.GetByteCount(Tag) > MaxTagBytes)
            throw Invalid(documentId, name, $"a tag of more than {MaxTagBytes} bytes");
    }

    private InvalidDocumentException Invalid(string documentId, string name, string what) =>
        new(
            $"The entry at {Timestamp:O} of the time series '{name}' of document '{documentId}' has {what}. Nothing was changed. "
                + $"Correct it.");
}
