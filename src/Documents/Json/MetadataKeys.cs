namespace Treepie.Json;

/// <summary>Keys of <c>@metadata</c>, some of which the database sets itself and therefore drops from the input.</summary>
internal static class MetadataKeys
{
    /// <summary>The member of a document that contains its metadata.</summary>
    public static ReadOnlySpan<byte> Metadata => "@metadata"u8;

    /// <summary>The member of the metadata that names the collection.</summary>
    public static ReadOnlySpan<byte> Collection => "@collection"u8;

    /// <summary>The member of the metadata that states which related data a document has.</summary>
    public static ReadOnlySpan<byte> Flags => "@flags"u8;

    /// <summary>Whether a key lists related data of a document, in which case <c>@flags</c> is present too.</summary>
    public static bool IsBeside(ReadOnlySpan<byte> key) =>
        key.SequenceEqual("@attachments"u8) || key.SequenceEqual("@counters"u8) || key.SequenceEqual("@timeseries"u8);

    /// <summary>Whether a key is set in every response; a stored value would be outdated immediately.</summary>
    public static bool IsGivenByDatabase(ReadOnlySpan<byte> key) =>
        key.Length >= 3 && key[0] == (byte)'@'
        && (key.SequenceEqual("@id"u8)
            || key.SequenceEqual("@collection"u8)
            || key.SequenceEqual("@change-vector"u8)
            || key.SequenceEqual("@last-modified"u8)
            || key.SequenceEqual("@etag"u8)
            || key.SequenceEqual("@index-score"u8)
            || key.SequenceEqual("@projection"u8)
            || key.SequenceEqual("@spatial"u8)
            || key.SequenceEqual("@attachments"u8)
            || key.SequenceEqual("@counters"u8)
            || key.SequenceEqual("@timeseries"u8));
}
